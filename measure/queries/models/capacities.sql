-- the capacities of `run_capacity`, judged as a build does; `method` says which runs are left out
with

rated_runs as (

    select
        run_capacity.*,
        run_capacity.configuration as configuration_id,
        'here' as campaign,
        run_capacity.run_id as started_at,
        'here' as session,
        method.discard_lowest,
        method.discard_highest,
        method.discard_from_runs
    from run_capacity
    cross join method

),

{{ capacities_of_runs() }}

select
    configuration_id,
    loss_goal,
    runs,
    rate_interpolated,
    ci_low,
    ci_high,
    interval_kind = 'confidence' as is_confidence
from with_bounds
order by configuration_id, loss_goal
