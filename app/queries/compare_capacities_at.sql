-- Capacities at a custom limit, fastest first, in the columns of `capacities`. No checks run at custom limits, so
-- quality and findings are empty.
select
    configurations.* exclude (configurations.runs, configurations.trials, configurations.rate_unit),
    capacities.rate_unit,
    'own limit' as loss_goal,
    capacities.runs,
    capacities.rate,
    capacities.rate_at_most,
    capacities.interval_kind,
    capacities.ci_low,
    capacities.ci_high,
    capacities.last_passing_rate,
    capacities.first_exceeding_rate,
    capacities.rate_interpolated,
    capacities.status,
    null as qualifier,
    null as quality,
    null as findings
from lps_at($limit, loss_basis := $basis, configuration_ids := $configuration_ids) as capacities
inner join configurations on capacities.configuration_id = configurations.configuration_id
order by capacities.rate desc nulls last, configurations.configuration_id asc
