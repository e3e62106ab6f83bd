-- The loss of the worst exchange over the offered rate, the median of the runs, of what resembles a dropped file.
with

-- numbered in their order: rows are grouped and sorted by a number in a fraction of the time
known as (

    select
        configuration_id,
        configuration,
        backend,
        row_number() over (order by configuration_id) as place
    from configurations
    where tool = $tool
        and protocol is not distinct from $protocol
        and rate_unit is not distinct from $rate_unit

),

steps as (

    select
        known.place,
        run_steps.offered_rate,
        median(run_steps.loss_worst_exchange) as loss_ratio,
        count(*) as runs
    from run_steps
    inner join known on run_steps.configuration_id = known.configuration_id
    where run_steps.loss_worst_exchange is not null
    group by known.place, run_steps.offered_rate
    order by known.place, run_steps.offered_rate
    limit $most

)

select
    known.configuration_id,
    known.configuration,
    known.backend,
    steps.offered_rate,
    steps.loss_ratio,
    steps.runs
from steps
inner join known on steps.place = known.place
order by steps.place, steps.offered_rate
