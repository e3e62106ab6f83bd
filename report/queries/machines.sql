with
used as (
    select
        coalesce(host_id, testbed) as host_id,
        string_agg(distinct campaign, ', ' order by campaign) as campaigns
    from configurations
    where configuration_id in (select unnest($ids))
    group by coalesce(host_id, testbed)
)

select distinct on (host_id)
    * exclude (facts, tuning, campaign, host_id, origin) replace (
        format('{:,g}', cpu_mhz) as cpu_mhz,
        format('{:.1f} GiB', memory_bytes / 2 ** 30) as memory_bytes,
        format('{:,g}', nic_speed_mbps) as nic_speed_mbps,
        format(
            '{:,}, listed on the page Machines and in the table hosts', nullif(cardinality(packages), 0)
        ) as packages
    ),
    (
        select used.campaigns
        from used
        where used.host_id = hosts.host_id
    ) as campaigns
from hosts
where host_id in (select used.host_id from used)
order by host_id, campaign
