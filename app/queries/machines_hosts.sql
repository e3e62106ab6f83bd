select
    hosts.* exclude (hosts.facts),
    concat(
        hosts.name, ' (', coalesce(hosts.campaign, hosts.origin),
        case when count(*) over (partition by hosts.name, coalesce(hosts.campaign, hosts.origin)) > 1
                then ', ' || left(hosts.host_id, 6)
        end, ')'
    ) as label,
    (
        select count(*) from runs
        where runs.host_id = hosts.host_id
    ) as runs
from hosts
order by hosts.origin, label
