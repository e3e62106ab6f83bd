-- The capacity of each run at a custom limit, as `run_capacities` gives it at a loss goal.
select
    configuration_id,
    run_id,
    repetition,
    rate,
    rate_unit,
    status
from run_rates_at($limit, loss_basis := $basis, configuration_ids := $configuration_ids)
where rate is not null
order by configuration_id, repetition, run_id
limit $most
