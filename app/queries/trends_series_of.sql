select series_id from trends
where configuration_id = $configuration_id
    and loss_goal = coalesce($loss_goal, usual_goal)
order by series_id
limit 1
