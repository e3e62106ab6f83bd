-- What do IPv6 and NAT cost on a load balancer?
-- Each published test against its twin with IPv4 or without NAT, with its share of the links' speed and its CPU load.
-- The source tells its tests apart in words only: "100 KB file; NAT mode", "100 KB file; tests 1 to 3; lowest". A bound
-- such as "almost 3 Gbit/s" gives no ratio.
with

figures as (

    select * from {{ ref('published_figures') }}
    where domain = 'adc' and evidence_kind = 'measured' and scenario is not null

),

testbeds as (

    select * from {{ ref('hosts') }}
    where origin = 'published'

),

set_ups as (

    select
        *,
        lower(nullif(regexp_extract(scenario_detail, '(transparent|NAT) mode', 1), '')) as forwarding_mode,
        nullif(regexp_extract(scenario_detail, 'test [0-9]+, .*', 0), '') as set_up,
        try_cast(regexp_extract(scenario_detail, 'tests? ([0-9]+)', 1) as integer) as first_test,
        try_cast(regexp_extract(scenario_detail, 'tests? [0-9]+ to ([0-9]+)', 1) as integer) as last_test,
        try_cast(regexp_extract(scenario, '^([0-9]+)x', 1) as integer) as links
    from figures

),

throughputs as (

    select
        set_ups.*,
        set_ups.links * testbeds.nic_speed_mbps as line_rate,
        case when set_ups.qualifier in ('exact', 'approx') then set_ups.value end as known_rate
    from set_ups
    left join testbeds on set_ups.testbed = testbeds.host_id
    where set_ups.rate_unit = 'Mbit/s'

),

-- one CPU load is often given for several tests or for both modes
cpu_loads as (

    select
        throughputs.figure_id,
        min(cpu.value) / 100 as cpu_ratio_low,
        max(cpu.value) / 100 as cpu_ratio_high
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

with_twins as (

    select
        *,
        max(known_rate) filter (where ip_version = 4) over (
            partition by source_id, product, scenario, osi_layer, set_up, forwarding_mode
        ) as rate_with_ipv4,
        max(known_rate) filter (where forwarding_mode = 'transparent') over (
            partition by source_id, product, scenario, osi_layer, set_up, ip_version
        ) as rate_when_transparent
    from throughputs

),

side_by_side as (

    select
        with_twins.product,
        with_twins.osi_layer,
        with_twins.links,
        coalesce(with_twins.forwarding_mode, with_twins.set_up) as mode,
        with_twins.ip_version,
        with_twins.value as rate,
        with_twins.rate_unit,
        with_twins.qualifier,
        with_twins.value / with_twins.line_rate as line_rate_ratio,
        cpu_loads.cpu_ratio_low,
        cpu_loads.cpu_ratio_high,
        case when with_twins.ip_version = 6 then with_twins.known_rate / with_twins.rate_with_ipv4 end
            as ipv6_over_ipv4,
        case
            when with_twins.forwarding_mode = 'nat' then with_twins.known_rate / with_twins.rate_when_transparent
        end as nat_over_transparent,
        with_twins.source_id,
        with_twins.figure_id
    from with_twins
    left join cpu_loads on with_twins.figure_id = cpu_loads.figure_id

)

select * from side_by_side
order by product, osi_layer, links, mode, ip_version
