-- The loss of the worst exchange over the offered rate, the median of the runs, of what resembles a dropped file.
select
    configurations.configuration_id,
    any_value(configurations.configuration) as configuration,
    any_value(configurations.backend) as backend,
    run_steps.offered_rate,
    median(run_steps.loss_worst_exchange) as loss_ratio,
    count(*) as runs
from run_steps
inner join configurations on run_steps.configuration_id = configurations.configuration_id
where configurations.tool = $tool
    and configurations.protocol is not distinct from $protocol
    and configurations.rate_unit is not distinct from $rate_unit
    and run_steps.loss_worst_exchange is not null
group by configurations.configuration_id, run_steps.offered_rate
order by configurations.configuration_id, run_steps.offered_rate
limit $most
