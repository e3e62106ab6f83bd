-- The capacity of a run, and the offered rate at which the loss reaches the limit; without a lease, the last passing.
select
    *,
    coalesce(rate_interpolated * last_passing_rate / nullif(bracket_low, 0), last_passing_rate) as offered_at_limit
from run_capacity
where run_id = $run_id and loss_goal = $loss_goal
