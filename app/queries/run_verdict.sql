select * from run_capacity
where run_id = $run_id and loss_goal = $loss_goal
