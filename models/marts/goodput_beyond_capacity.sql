with

steps as (

    select * from {{ ref('run_steps').include(database=false) }}

),

run_capacity as (

    select * from {{ ref('run_capacity').include(database=false) }}
    where loss_goal = 'isc' and rate > 0

),

beyond as (

    select
        run_capacity.configuration_id,
        steps.offered_rate / run_capacity.rate as offered_ratio,
        steps.achieved_rate / run_capacity.rate as achieved_ratio,
        cast(row_number() over (partition by run_capacity.run_id order by steps.offered_rate) as bigint) as step
    from run_capacity
    inner join steps on run_capacity.run_id = steps.run_id
    where steps.offered_rate > run_capacity.last_passing_rate and not coalesce(steps.is_generator_limited, false)

)

select
    configuration_id,
    step,
    count(*) as runs,
    median(offered_ratio) as offered_ratio,
    median(achieved_ratio) as achieved_ratio
from beyond
group by configuration_id, step
