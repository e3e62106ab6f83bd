-- The counters that changed during a trial, the largest change first: with a snapshot before and after it, or that
-- report their own change (udp.*, without both values).
with

snapshots as (

    select
        metric,
        label,
        host,
        unit,
        value_before,
        value_after,
        change
    from trial_counters
    where trial_id = $trial_id and batch = $batch

),

changes as (

    select
        metric,
        label,
        host,
        unit,
        null as value_before,
        null as value_after,
        sum(value) as change
    from trial_observations
    where trial_id = $trial_id and batch = $batch and moment is null and t_s is null and contains(metric, '.')
    group by metric, label, host, unit

),

both_kinds as (

    select * from snapshots
    union all
    select * from changes

)

select * from both_kinds
where change <> 0
order by abs(change) desc, metric, label asc, host asc
