with
used as (
    select coalesce(host_id, testbed) as host_id
    from configurations
    where configuration_id in (select unnest($ids))
)

select distinct on (host_id) * exclude (facts, campaign, host_id, origin)
from hosts
where host_id in (from used)
order by host_id, campaign
