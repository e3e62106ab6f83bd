-- The capacity of each run.
select
    configuration_id,
    run_id,
    repetition,
    rate,
    rate_unit,
    status
from run_capacity
where loss_goal = $loss_goal and rate is not null and list_contains($configuration_ids, configuration_id)
order by configuration_id, repetition, run_id
limit $most
