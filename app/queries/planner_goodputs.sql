-- The answers of set-ups under overload, fastest first. goodput: for the first step beyond the capacity, the second and
-- so on, what was asked and what was answered, over the capacity; the median of the runs.
with

beyond as (

    select
        run_capacity.configuration_id,
        run_steps.offered_rate / run_capacity.rate as asked_ratio,
        run_steps.achieved_rate / run_capacity.rate as answered_ratio,
        row_number() over (partition by run_steps.run_id order by run_steps.offered_rate) as step
    from run_capacity
    inner join run_steps on run_capacity.run_id = run_steps.run_id
    where run_capacity.loss_goal = 'isc'
        and run_capacity.rate > 0
        and run_steps.offered_rate > run_capacity.last_passing_rate
        and not coalesce(run_steps.is_generator_limited, false)

),

steps as (

    select
        configuration_id,
        { 'asked_ratio': median(asked_ratio), 'answered_ratio': median(answered_ratio) } as point
    from beyond
    group by configuration_id, step

)

select
    leases_per_second.configuration_id,
    leases_per_second.configuration,
    leases_per_second.campaign,
    leases_per_second.lps,
    list(steps.point order by steps.point.asked_ratio) as goodput
from steps
inner join leases_per_second on steps.configuration_id = leases_per_second.configuration_id
where leases_per_second.protocol = $protocol and leases_per_second.lps > 0
group by all
order by leases_per_second.lps desc, leases_per_second.configuration_id asc
