-- The dimensions of each configuration, its server's settings and its host's hardware.
with

servers as (

    select distinct on (server_config_id) * from server_configurations

),

machines as (

    select distinct on (host_id) * from hosts

)

select
    configurations.configuration_id,
    configurations.origin,
    configurations.campaign,
    campaigns.description as campaign_says,
    configurations.product,
    configurations.product_version,
    configurations.protocol,
    configurations.backend,
    configurations.backend_version,
    configurations.threading,
    configurations.threads,
    configurations.packet_queue_size,
    configurations.ha_mode,
    configurations.scenario,
    configurations.testbed,
    configurations.tool,
    configurations.tool_version,
    configurations.method,
    configurations.drop_time_s,
    server.subnets,
    server.pools,
    server.pool_addresses,
    server.reservations,
    server.client_classes,
    array_to_string(server.hooks, ', ') as hooks,
    server.valid_lifetime_s,
    host.cpu_model,
    host.cpu_cores,
    host.cpu_threads,
    host.cpu_mhz,
    host.memory_bytes,
    host.nic_model,
    host.nic_speed_mbps,
    host.disks,
    host.os_name,
    host.os_version,
    host.kernel,
    host.virtualisation
from configurations
left join campaigns on configurations.campaign = campaigns.campaign
left join servers as server
    on configurations.server_config_id = server.server_config_id
left join machines as host
    on coalesce(configurations.host_id, configurations.testbed) = host.host_id
where list_contains($configuration_ids, configurations.configuration_id)
