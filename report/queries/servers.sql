with

server as (

    select distinct on (server_config_id) *
    from server_configurations
    order by server_config_id, campaign

)

select
    { 'text': configurations.configuration_id, 'detail': coalesce(server.source_path, '') } as configuration,
    server.threads,
    server.packet_queue_size,
    server.subnets,
    server.pools,
    server.pool_addresses as addresses,
    server.prefix_pool_prefixes as prefixes,
    server.reservations,
    server.client_classes as classes,
    server.valid_lifetime_s,
    coalesce(server.ha_role, '') as ha_role,
    coalesce(array_to_string(server.hooks, ', '), '') as hooks,
    coalesce(server.socket_type, '') as sockets
from configurations
inner join server on configurations.server_config_id = server.server_config_id
where configurations.configuration_id in (select unnest($ids))
order by configurations.campaign, configurations.configuration, configurations.configuration_id
