with

runs as (

    select * from {{ ref('int_runs__identified') }}

),

run_capacity as (

    select * from {{ ref('int_run_capacity') }}

),

configurations as (

    select * from {{ ref('int_configurations') }}

)

select
    runs.run_id,
    runs.configuration_id,
    runs.configuration,
    runs.campaign,
    runs.repetition,
    runs.product,
    runs.product_version,
    runs.protocol,
    runs.backend,
    runs.backend_version,
    runs.threading,
    runs.threads,
    runs.packet_queue_size,
    runs.ha_mode,
    runs.scenario,
    runs.testbed,
    runs.tool,
    runs.tool_version,
    runs.method,
    runs.drop_time_s,
    runs.host_id,
    runs.server_config_id,
    runs.session,
    {{ utc_time('runs.started_at') }} as started_at,
    {{ utc_time('runs.ended_at') }} as ended_at,
    runs.trials,
    runs.steps,
    runs.lowest_offered_rate,
    runs.highest_offered_rate,
    runs.rate_unit,
    run_capacity.rate,
    run_capacity.rate_interpolated,
    run_capacity.status
from runs
inner join configurations on runs.configuration_id = configurations.configuration_id
left join run_capacity
    on runs.run_id = run_capacity.run_id
        and configurations.usual_goal = run_capacity.loss_goal
