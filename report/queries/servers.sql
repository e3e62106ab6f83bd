with
server as (
    select distinct on (server_config_id) *
    from server_configurations
    order by server_config_id, campaign
)

select
    configurations.configuration_id,
    server.*
from configurations
inner join server on configurations.server_config_id = server.server_config_id
where configurations.configuration_id in (select unnest($ids))
order by configurations.campaign, configurations.configuration, configurations.configuration_id
