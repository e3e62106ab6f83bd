-- The answers of set-ups under overload, fastest first. goodput: for the first step beyond the capacity, the second and
-- so on, what was asked and what was answered, over the capacity; the median of the runs.
with

asked as (

    select * from leases_per_second
    where protocol = $protocol and lps > 0

),

-- a number for each run: the steps of a million trials are sorted by it in a fraction of the time
rated_runs as (

    select
        run_capacity.*,
        row_number() over () as run
    from run_capacity
    inner join asked on run_capacity.configuration_id = asked.configuration_id
    where run_capacity.loss_goal = 'isc' and run_capacity.rate > 0

),

beyond as (

    select
        rated_runs.configuration_id,
        run_steps.offered_rate / rated_runs.rate as asked_ratio,
        run_steps.achieved_rate / rated_runs.rate as answered_ratio,
        row_number() over (partition by rated_runs.run order by run_steps.offered_rate) as step
    from rated_runs
    inner join run_steps on rated_runs.run_id = run_steps.run_id
    where run_steps.offered_rate > rated_runs.last_passing_rate and not coalesce(run_steps.is_generator_limited, false)

),

steps as (

    select
        configuration_id,
        { 'asked_ratio': median(asked_ratio), 'answered_ratio': median(answered_ratio) } as point
    from beyond
    group by configuration_id, step

)

select
    asked.configuration_id,
    asked.configuration,
    asked.campaign,
    asked.lps,
    list(steps.point order by steps.point.asked_ratio) as goodput
from steps
inner join asked on steps.configuration_id = asked.configuration_id
group by all
order by asked.lps desc, asked.configuration_id asc
