-- The runs on a host or with a server configuration, and its published figures, which have no run_id.
select -- noqa: AM07
    configuration_id,
    configuration,
    'measured' as origin,
    campaign,
    run_id,
    repetition,
    started_at,
    rate,
    rate_unit,
    status,
    null as qualifier
from runs
where host_id = $host_id or server_config_id = $server_config_id
union all by name
select
    configurations.configuration_id,
    configurations.configuration,
    'published' as origin,
    configurations.campaign,
    capacity.rate,
    capacity.rate_unit,
    capacity.status,
    capacity.qualifier
from configurations
inner join capacity on configurations.configuration_id = capacity.configuration_id
where configurations.origin = 'published' and configurations.host_id = $host_id
order by origin, campaign, configuration, configuration_id, repetition, started_at, run_id
