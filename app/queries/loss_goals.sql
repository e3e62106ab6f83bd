select * from loss_goals
order by loss_goal <> $usual, loss_limit
