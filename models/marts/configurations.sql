with

configurations as (

    select * from {{ ref('int_configurations') }}

)

select
    configuration_id,
    configuration,
    origin,
    campaign,
    product,
    product_version,
    protocol,
    backend,
    backend_version,
    threading,
    threads,
    packet_queue_size,
    ha_mode,
    scenario,
    testbed,
    tool,
    tool_version,
    method,
    drop_time_s,
    rate_unit,
    usual_goal,
    host_id,
    server_config_id,
    runs,
    cast(trials as bigint) as trials,
    is_newest,
    {{ utc_time('first_started_at') }} as first_started_at,
    {{ utc_time('last_started_at') }} as last_started_at
from configurations
