select series_id from trends
where configuration_id = $configuration_id
    and loss_goal
    = coalesce($loss_goal, case when list_contains($dhcp_units, rate_unit) then $dhcp_goal else $other_goal end)
order by series_id
limit 1
