with
second_by_second as (
    select trial_id
    from trial_intervals
    where t_s is not null
)

select
    run_capacity.configuration_id,
    trials.trial_id,
    trials.batch,
    trials.offered_rate,
    trials.rate_unit,
    trials.source_path
from run_capacity
inner join capacity
    on run_capacity.configuration_id = capacity.configuration_id
        and run_capacity.loss_goal = capacity.loss_goal
inner join trials
    on run_capacity.run_id = trials.run_id
        and run_capacity.last_passing_rate = trials.offered_rate
where
    run_capacity.loss_goal = run_capacity.usual_goal
    and run_capacity.configuration_id in (select unnest($ids))
    and trials.trial_id in (from second_by_second)
qualify row_number() over (
        partition by run_capacity.configuration_id
        order by abs(run_capacity.rate - capacity.rate_median), run_capacity.run_id, trials.trial_id
    ) = 1
