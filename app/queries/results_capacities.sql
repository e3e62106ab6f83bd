-- Each configuration at the loss goal of the page, or the usual one of its unit. Published figures of units without a
-- usual goal seldom say theirs.
with

goals as (

    select
        *,
        list_contains($dhcp_units, rate_unit) as is_dhcp,
        coalesce(
            $loss_goal, case when list_contains($dhcp_units, rate_unit) then $dhcp_goal else $other_goal end
        ) as goal
    from capacity

),

machines as (

    select distinct on (host_id)
        host_id,
        cpu_threads
    from hosts

)

select
    goals.* exclude (is_dhcp, goal),
    machines.cpu_threads as cpus
from goals
left join configurations on goals.configuration_id = configurations.configuration_id
left join machines on coalesce(configurations.host_id, configurations.testbed) = machines.host_id
where goals.loss_goal = goals.goal
    or (goals.origin = 'published' and goals.loss_goal = 'unstated' and not goals.is_dhcp)
order by goals.origin asc, goals.rate desc nulls last, goals.configuration_id asc
