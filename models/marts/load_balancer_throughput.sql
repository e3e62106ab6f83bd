with

figures as (

    select * from {{ ref('published_figures') }}
    where domain = 'adc' and evidence_kind = 'measured' and scenario is not null

),

capacity as (

    select * from {{ ref('capacity') }}

),

testbeds as (

    select * from {{ ref('reported_testbeds') }}

),

trials as (

    select * from {{ ref('int_trials__measured') }}
    where rate_unit not in ('leases/s', 'exchanges/s', 'queries/s', 'frames/s') and completed and duplicate_of is null

),

runs as (

    select * from {{ ref('int_runs__identified') }}

),

trial_findings as (

    select
        trial_id,
        {{ findings_and_quality() }}
    from {{ ref('int_findings') }}
    where finding <> 'reader_warning' and trial_id is not null
    group by trial_id

),

-- the source tells its tests apart in words only: "100 KB file; NAT mode", "100 KB file; tests 1 to 3; lowest"
set_ups as (

    select
        *,
        lower(nullif(regexp_extract(scenario_detail, '(transparent|NAT) mode', 1), '')) as forwarding_mode,
        nullif(regexp_extract(scenario_detail, 'test [0-9]+, .*', 0), '') as set_up,
        cast(nullif(regexp_extract(scenario_detail, 'tests? ([0-9]+)', 1), '') as integer) as first_test,
        cast(nullif(regexp_extract(scenario_detail, 'tests? [0-9]+ to ([0-9]+)', 1), '') as integer) as last_test,
        cast(nullif(regexp_extract(scenario, '^([0-9]+)x', 1), '') as integer) as links
    from figures

),

throughputs as (

    select * from set_ups
    where rate_unit = 'Mbit/s'

),

-- one CPU load is often given for several tests or for both modes
cpu_loads as (

    select
        throughputs.figure_id,
        min(cpu.value) / 100 as cpu_ratio_low,
        max(cpu.value) / 100 as cpu_ratio_high,
        {{ joined_texts(
            "cpu.scenario_detail || ': ' || " ~ short_number('cpu.value') ~ " || ' %'", ' | ', 'cpu.figure_id'
        ) }} as cpu_detail
    from throughputs
    inner join set_ups as cpu
        on throughputs.source_id = cpu.source_id
            and throughputs.product = cpu.product
            and throughputs.scenario = cpu.scenario
            and throughputs.osi_layer is not distinct from cpu.osi_layer
            and throughputs.ip_version is not distinct from cpu.ip_version
            and (cpu.forwarding_mode is null or throughputs.forwarding_mode = cpu.forwarding_mode)
            and (
                cpu.first_test is null
                or throughputs.first_test between cpu.first_test and coalesce(cpu.last_test, cpu.first_test)
            )
    where cpu.metric = 'cpu_percent'
    group by throughputs.figure_id

),

rates as (

    select
        throughputs.*,
        testbeds.link_mbps,
        throughputs.links * testbeds.link_mbps as line_rate,
        -- a bound such as "almost 3 Gbit/s" gives no ratio
        case when throughputs.qualifier in ('exact', 'approx') then throughputs.value end as known_rate
    from throughputs
    left join testbeds on throughputs.testbed = testbeds.testbed

),

compared as (

    select
        *,
        max(known_rate) filter (where ip_version = 4) over (
            partition by source_id, product, scenario, osi_layer, set_up, forwarding_mode
        ) as rate_with_ipv4,
        max(known_rate) filter (where forwarding_mode = 'transparent') over (
            partition by source_id, product, scenario, osi_layer, set_up, ip_version
        ) as rate_when_transparent
    from rates

),

published as (

    select
        compared.figure_id,
        'published' as origin,
        compared.source_id as campaign,
        compared.product,
        compared.osi_layer,
        compared.ip_version,
        compared.forwarding_mode,
        compared.scenario,
        compared.links,
        compared.link_mbps,
        compared.set_up,
        compared.value as rate,
        compared.rate_unit,
        compared.qualifier,
        cast(null as string) as load_layer,
        cast(null as double) as failed_ratio,
        compared.line_rate,
        compared.value / compared.line_rate as line_rate_ratio,
        cpu_loads.cpu_ratio_low,
        cpu_loads.cpu_ratio_high,
        cpu_loads.cpu_detail,
        case when compared.ip_version = 6 then compared.known_rate / compared.rate_with_ipv4 end as ipv6_over_ipv4,
        case
            when compared.forwarding_mode = 'nat' then compared.known_rate / compared.rate_when_transparent
        end as nat_over_transparent,
        compared.tool,
        compared.testbed,
        capacity.quality,
        capacity.findings,
        capacity.configuration_id,
        capacity.configuration,
        compared.note
    from compared
    left join cpu_loads on compared.figure_id = cpu_loads.figure_id
    left join capacity on compared.figure_id = capacity.figure_id

),

fastest_trials as (

    select
        trials.*,
        runs.configuration_id,
        runs.configuration
    from trials
    inner join runs on trials.run_id = runs.run_id
    qualify row_number() over (
            partition by runs.configuration_id, trials.rate_unit
            order by trials.computed_rate desc nulls last, trials.trial_id asc
        ) = 1

),

-- the fastest of many trials only grows with their number
rates_of_runs as (

    select
        runs.configuration_id,
        trials.rate_unit,
        max(trials.computed_rate) as rate
    from trials
    inner join runs on trials.run_id = runs.run_id
    group by runs.configuration_id, trials.rate_unit, trials.run_id

),

median_rates as (

    select
        configuration_id,
        rate_unit,
        median(rate) as rate
    from rates_of_runs
    group by configuration_id, rate_unit

),

measured as (

    select
        cast(null as string) as figure_id,
        'measured' as origin,
        fastest_trials.campaign,
        fastest_trials.product,
        case when fastest_trials.protocol like 'HTTP%' then 7 end as osi_layer,
        cast(null as integer) as ip_version,
        cast(null as string) as forwarding_mode,
        fastest_trials.scenario,
        cast(null as integer) as links,
        cast(null as double) as link_mbps,
        cast(null as string) as set_up,
        median_rates.rate,
        fastest_trials.rate_unit,
        cast(null as string) as qualifier,
        {{ json_text('fastest_trials.details', 'load_layer') }} as load_layer,
        fastest_trials.loss_packet as failed_ratio,
        cast(null as double) as line_rate,
        cast(null as double) as line_rate_ratio,
        cast(null as double) as cpu_ratio_low,
        cast(null as double) as cpu_ratio_high,
        cast(null as string) as cpu_detail,
        cast(null as double) as ipv6_over_ipv4,
        cast(null as double) as nat_over_transparent,
        fastest_trials.tool,
        fastest_trials.testbed,
        coalesce(trial_findings.quality, 'ok') as quality,
        coalesce(trial_findings.findings, {{ list_of([]) }}) as findings,
        fastest_trials.configuration_id,
        fastest_trials.configuration,
        cast(null as string) as note
    from fastest_trials
    left join trial_findings on fastest_trials.trial_id = trial_findings.trial_id
    left join median_rates
        on fastest_trials.configuration_id = median_rates.configuration_id
            and fastest_trials.rate_unit = median_rates.rate_unit

),

combined as (

    select * from published
    union all
    select * from measured

)

select * from combined
