-- The server configurations, each with a unique label and its number of runs.
select
    server_configurations.* exclude (server_configurations.settings),
    concat(
        server_configurations.source_path, ' (', server_configurations.campaign,
        case when count(*) over (partition by server_configurations.source_path, server_configurations.campaign) > 1
                then ', ' || left(server_configurations.server_config_id, 6)
        end, ')'
    ) as label,
    (
        select count(*) from runs
        where runs.server_config_id = server_configurations.server_config_id
    ) as runs
from server_configurations
order by server_configurations.campaign, server_configurations.source_path, server_configurations.server_config_id
