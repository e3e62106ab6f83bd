select series_id from trends
where configuration_id = $id
    and loss_goal = $loss_goal
order by series_id
limit 1
