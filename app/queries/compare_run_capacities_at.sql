select
    configuration_id,
    run_id,
    repetition,
    rate,
    rate_unit,
    status
from run_rates_at($limit, loss_basis := $basis, configuration_ids := $ids)
where rate is not null
order by configuration_id, repetition, run_id
limit $most
