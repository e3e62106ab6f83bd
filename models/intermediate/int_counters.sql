with

observations as (

    select * from {{ ref('trial_observations') }}

),

snapshots as (

    select
        trial_id,
        host,
        metric,
        label,
        any_value(unit) as unit,
        max(value) filter (where moment = 'before') as value_before,
        max(value) filter (where moment = 'after') as value_after
    from observations
    where trial_id is not null and moment is not null
    group by trial_id, host, metric, label

),

with_change as (

    select
        *,
        value_after - value_before as change
    from snapshots

)

select * from with_change
