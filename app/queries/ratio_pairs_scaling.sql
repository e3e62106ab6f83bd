-- Every family of thread counts at one loss goal, fitted ones first.
select * from thread_scaling
where loss_goal in ('unstated', case when list_contains($dhcp_units, rate_unit) then $dhcp_goal else $other_goal end)
order by status <> 'fitted', origin, family, campaign
