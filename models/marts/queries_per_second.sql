with

trials as (

    select * from {{ ref('int_trials__measured') }}
    where rate_unit = 'queries/s' and duplicate_of is null and completed

),

runs as (

    select * from {{ ref('int_runs__identified') }}

),

run_capacity as (

    select * from {{ ref('int_run_capacity') }}
    where loss_goal = 'permille'

),

capacity as (

    select * from {{ ref('capacity') }}
    where loss_goal = 'permille' and rate_unit = 'queries/s' and origin = 'measured'

),

configurations as (

    select * from {{ ref('int_configurations') }}

),

findings as (

    select * from {{ ref('int_findings') }}

),

judged_trials as (

    select
        trials.*,
        runs.configuration_id,
        -- all tools count answers of any code, and two of them queries without one
        least(
            trials.computed_rate * coalesce(trials.successful_ratio / nullif(trials.answered_ratio, 0), 1),
            trials.successes_of_ramp
        )
        * case when trials.tool in ('dnspyre', 'dnstrace') then coalesce(trials.answered_ratio, 1) else 1 end
            as throughput
    from trials
    inner join runs on trials.run_id = runs.run_id

),

-- at the last step that a ramp sustained
sustained_trials as (

    select
        judged_trials.*,
        'ramp' as seen_in
    from judged_trials
    inner join run_capacity
        on judged_trials.run_id = run_capacity.run_id
            and judged_trials.offered_rate = run_capacity.last_passing_rate

),

-- what came back when nobody set a rate, or more was asked for than the server took
loaded_trials as (

    select
        *,
        'throughput' as seen_in
    from judged_trials
    where (offered_rate is null or is_held_back) and received > 0 and throughput is not null
    qualify row_number() over (partition by run_id order by throughput desc, trial_id asc) = 1

),

seen as (

    select * from sustained_trials
    union all
    select * from loaded_trials

),

with_limit as (

    select
        *,
        -- an open load that lost and failed nothing and a window with room left show no limit of the server
        coalesce(
            loss_packet <= 0.001
            and coalesce(error_ratio, 0) <= 0.001
            and (
                tool in ('dnsblast', 'flame', 'kxdpgun', 'shotgun')
                -- its ramp ended first, unless its window of outstanding queries did
                or (tool = 'resperf' and coalesce({{ json_text('details', 'ended_early') }} not like 'Reached%', true))
                or waiting_ratio <= {{ most_waiting_ratio() }}
                -- its head is missing, and with it the window and the rate that was asked for
                or (tool = 'dnsperf' and waiting_ratio is null)
                -- --json of dnspyre does not repeat its limit of the rate
                or coalesce({{ fits('command', "'^dnspyre .* (-l|--rate-limit)[ =]'") }}, false)
            ),
            false
        ) as is_unlimited
    from seen

),

transports as (

    select
        configuration_id,
        max(transport) as transport
    from judged_trials
    group by configuration_id

),

summarised as (

    select
        configuration_id,
        seen_in,
        count(distinct run_id) as runs,
        -- of lower bounds the highest; they tell nothing beside runs that show a limit
        coalesce(median(throughput) filter (where not is_unlimited), max(throughput)) as throughput,
        min(throughput) as lowest_throughput,
        max(throughput) as highest_throughput,
        bool_and(is_unlimited) as is_unlimited,
        median(loss_packet) as loss_packet,
        median(answered_ratio) as answered_ratio,
        median(successful_ratio) as successful_ratio,
        median(error_ratio) as error_ratio,
        median(latency_avg_ms) as latency_avg_ms,
        median(latency_p50_ms) as latency_p50_ms,
        median(latency_p95_ms) as latency_p95_ms,
        median(latency_p99_ms) as latency_p99_ms,
        median(cache_hit_ratio) as cache_hit_ratio
    from with_limit
    group by configuration_id, seen_in

),

findings_that_matter as (

    select
        loaded_trials.configuration_id,
        findings.finding,
        findings.severity
    from loaded_trials
    inner join findings on loaded_trials.trial_id = findings.trial_id
    where findings.finding <> 'reader_warning'
    union all
    select
        configuration_id,
        finding,
        severity
    from findings
    where subject = 'configuration'

),

findings_of_throughput as (

    select
        configuration_id,
        {{ findings_and_quality() }}
    from findings_that_matter
    group by configuration_id

),

ramps as (

    select
        capacity.configuration_id,
        'ramp' as seen_in,
        case when {{ is_open('capacity') }} then 'lower bound' else 'sustained' end as kind,
        capacity.rate,
        capacity.runs,
        capacity.status,
        capacity.quality,
        capacity.findings
    from capacity

),

throughputs as (

    select
        summarised.configuration_id,
        summarised.seen_in,
        case when summarised.is_unlimited then 'lower bound' else 'maximum throughput' end as kind,
        summarised.throughput as rate,
        summarised.runs,
        cast(null as string) as status,
        coalesce(findings_of_throughput.quality, 'ok') as quality,
        coalesce(findings_of_throughput.findings, {{ list_of([]) }}) as findings
    from summarised
    left join findings_of_throughput on summarised.configuration_id = findings_of_throughput.configuration_id
    where summarised.seen_in = 'throughput'

),

figures as (

    select * from ramps
    union all
    select * from throughputs

)

select
    figures.configuration_id,
    configurations.configuration,
    configurations.campaign,
    configurations.product,
    configurations.product_version,
    configurations.backend,
    configurations.backend_version,
    configurations.threading,
    configurations.threads,
    configurations.scenario,
    configurations.testbed,
    configurations.tool,
    configurations.tool_version,
    configurations.method,
    transports.transport,
    figures.kind,
    figures.seen_in,
    figures.rate,
    case when figures.seen_in = 'throughput' then summarised.lowest_throughput end as rate_low,
    case when figures.seen_in = 'throughput' then summarised.highest_throughput end as rate_high,
    figures.runs,
    figures.status,
    summarised.loss_packet,
    summarised.answered_ratio,
    summarised.successful_ratio,
    summarised.error_ratio,
    summarised.latency_avg_ms,
    summarised.latency_p50_ms,
    summarised.latency_p95_ms,
    summarised.latency_p99_ms,
    summarised.cache_hit_ratio,
    figures.quality,
    figures.findings
from figures
inner join configurations on figures.configuration_id = configurations.configuration_id
left join summarised
    on figures.configuration_id = summarised.configuration_id
        and figures.seen_in = summarised.seen_in
left join transports on figures.configuration_id = transports.configuration_id
