with

snapshots as (

    select * from {{ ref('trial_observations') }}
    where trial_id is not null and moment is not null

),

counters as (

    select
        trial_id,
        batch,
        host,
        metric,
        label,
        any_value(unit) as unit,
        max(value) filter (where moment = 'before') as value_before,
        max(value) filter (where moment = 'after') as value_after
    from snapshots
    group by trial_id, batch, host, metric, label

)

select
    trial_id,
    batch,
    host,
    metric,
    label,
    unit,
    value_before,
    value_after,
    value_after - value_before as change
from counters
order by batch -- as in the other tables of trials: a question about one batch reads few rows
