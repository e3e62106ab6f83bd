-- Each configuration at the loss goal of the page, or its usual one. Published figures of other units than
-- those of DHCP seldom say theirs. Only figures of one `place` compare: the machines, the frames of frames/s, and
-- whether it is a throughput.
with

machines as (

    select distinct on (host_id)
        host_id,
        cpu_threads
    from hosts

)

select
    -- named, so that a warehouse of an earlier version is refused
    capacity.* replace (capacity.is_newest as is_newest),
    machines.cpu_threads as cpus,
    concat(
        ' on ' || coalesce(capacity.testbed, if(capacity.origin = 'published', capacity.campaign, null)),
        ', ' || nullif(regexp_extract(capacity.method, '; ([^;]+ frames)', 1), ''),
        if(capacity.loss_goal = 'throughput', ', throughput', null)
    ) as place
from capacity
left join configurations on capacity.configuration_id = configurations.configuration_id
left join machines on coalesce(configurations.host_id, configurations.testbed) = machines.host_id
where capacity.loss_goal = coalesce($loss_goal, capacity.usual_goal)
    or (
        capacity.origin = 'published'
        and capacity.loss_goal = 'unstated'
        and capacity.usual_goal <> 'isc'
    )
order by
    capacity.origin asc,
    capacity.rate desc nulls last,
    capacity.rate_at_most desc nulls last,
    capacity.configuration_id asc
