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

),

throughputs as (

    select * from {{ ref('int_throughputs') }}

),

capacity as (

    select * from {{ ref('capacity') }}
    where loss_goal in ('permille', 'throughput') and rate_unit = 'queries/s' and origin = 'measured'

),

-- at the last step that a ramp sustained, or under the load of a throughput
seen as (

    select
        trials.*,
        runs.configuration_id,
        'permille' as loss_goal
    from trials
    inner join runs on trials.run_id = runs.run_id
    inner join run_capacity
        on trials.run_id = run_capacity.run_id
            and trials.offered_rate = run_capacity.last_passing_rate
            and run_capacity.loss_goal = 'permille'
    union all
    select
        trials.*,
        runs.configuration_id,
        'throughput' as loss_goal
    from trials
    inner join runs on trials.run_id = runs.run_id
    inner join throughputs on trials.trial_id = throughputs.trial_id

),

transports as (

    select
        runs.configuration_id,
        max(trials.transport) as transport
    from trials
    inner join runs on trials.run_id = runs.run_id
    group by runs.configuration_id

),

rates as (

    select
        runs.configuration_id,
        min(coalesce(run_capacity.rate, 0)) as lowest_throughput,
        max(coalesce(run_capacity.rate, 0)) as highest_throughput
    from run_capacity
    inner join runs on run_capacity.run_id = runs.run_id
    where run_capacity.loss_goal = 'throughput'
    group by runs.configuration_id

),

summarised as (

    select
        configuration_id,
        loss_goal,
        median(loss_packet) as loss_packet,
        median(answered_ratio) as answered_ratio,
        median(successful_ratio) as successful_ratio,
        median(error_ratio) as error_ratio,
        median(latency_avg_ms) as latency_avg_ms,
        median(latency_p50_ms) as latency_p50_ms,
        median(latency_p95_ms) as latency_p95_ms,
        median(latency_p99_ms) as latency_p99_ms,
        median(cache_hit_ratio) as cache_hit_ratio
    from seen
    group by configuration_id, loss_goal

)

select
    capacity.configuration_id,
    capacity.configuration,
    capacity.campaign,
    capacity.product,
    capacity.product_version,
    capacity.backend,
    capacity.backend_version,
    capacity.threading,
    capacity.threads,
    capacity.scenario,
    capacity.testbed,
    capacity.tool,
    capacity.tool_version,
    capacity.method,
    transports.transport,
    case
        when {{ is_open('capacity') }} then 'lower bound'
        when capacity.loss_goal = 'throughput' then 'maximum throughput'
        else 'sustained'
    end as kind,
    case capacity.loss_goal when 'throughput' then 'throughput' else 'ramp' end as seen_in,
    capacity.rate,
    case when capacity.loss_goal = 'throughput' then rates.lowest_throughput end as rate_low,
    case when capacity.loss_goal = 'throughput' then rates.highest_throughput end as rate_high,
    capacity.runs,
    capacity.status,
    summarised.loss_packet,
    summarised.answered_ratio,
    summarised.successful_ratio,
    summarised.error_ratio,
    summarised.latency_avg_ms,
    summarised.latency_p50_ms,
    summarised.latency_p95_ms,
    summarised.latency_p99_ms,
    summarised.cache_hit_ratio,
    capacity.quality,
    capacity.findings
from capacity
left join summarised
    on capacity.configuration_id = summarised.configuration_id
        and capacity.loss_goal = summarised.loss_goal
left join rates on capacity.configuration_id = rates.configuration_id
left join transports on capacity.configuration_id = transports.configuration_id
