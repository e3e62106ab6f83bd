-- The hosts, measured first, each with a unique label, its hardware in a few words, and its number of runs.
with

used as (

    select
        coalesce(host_id, testbed) as host_id,
        string_agg(distinct campaign, ', ' order by campaign) as campaigns
    from configurations
    group by all

)

select
    hosts.* exclude (hosts.facts),
    concat(
        hosts.name, ' (', coalesce(hosts.campaign, 'published' || coalesce(' in ' || used.campaigns, '')),
        case when count(*) over (partition by hosts.name, coalesce(hosts.campaign, hosts.origin)) > 1
                then ', ' || left(hosts.host_id, 6)
        end, ')'
    ) as label,
    coalesce(
        nullif(
            concat_ws(
                ', ',
                hosts.cpu_model,
                format('{:,} core', hosts.cpu_cores) || if(hosts.cpu_cores = 1, '', 's'),
                format('{:,.0f} GiB', hosts.memory_bytes / 2 ** 30)
            ), ''
        ), hosts.name
    ) as described,
    (
        select count(*) from runs
        where runs.host_id = hosts.host_id
    ) as runs
from hosts
left join used on hosts.host_id = used.host_id
order by hosts.origin, label, hosts.host_id
