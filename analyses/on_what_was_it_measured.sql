-- On what machine and with which settings of the server was each configuration measured?
with

configurations as (

    select * from {{ ref('configurations') }}
    where origin = 'measured'

),

hosts as (

    select * from {{ ref('hosts') }}

),

settings as (

    select * from {{ ref('server_configurations') }}

),

facts as (

    select * from {{ ref('configuration_facts') }}

),

known as (

    select
        configuration_id,
        count(*) as known_facts
    from facts
    group by configuration_id

),

measured_on as (

    select
        configurations.configuration,
        configurations.campaign,
        configurations.runs,
        hosts.cpu_model,
        hosts.cpu_cores,
        hosts.memory_bytes,
        hosts.nic_speed_mbps,
        hosts.os_name,
        hosts.os_version,
        hosts.kernel,
        hosts.virtualisation,
        settings.backend_persistent,
        settings.packet_queue_size,
        settings.pool_addresses,
        settings.hooks,
        known.known_facts
    from configurations
    left join hosts on coalesce(configurations.host_id, configurations.testbed) = hosts.host_id
    left join settings on configurations.server_config_id = settings.server_config_id
    left join known on configurations.configuration_id = known.configuration_id

)

select * from measured_on
order by campaign, configuration
