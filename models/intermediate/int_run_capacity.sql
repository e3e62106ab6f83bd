with

steps as (

    select * from {{ ref('int_steps') }}

),

loss_goals as (

    select * from {{ ref('loss_goals') }}
    where loss_limit is not null

),

-- steps are sorted by a number in a third of the time that a key of 32 characters takes
numbered_runs as (

    select
        run_id,
        row_number() over (order by run_id) as run_number
    from (select distinct run_id from steps) as runs

),

judged_steps as (

    select
        numbered_runs.run_number as run_id,
        loss_goals.loss_goal,
        loss_goals.loss_limit,
        loss_goals.loss_basis,
        steps.offered_rate,
        steps.achieved_rate,
        steps.is_generator_limited,
        steps.is_pace_lost,
        coalesce(steps.is_unsustained or steps.error_ratio > loss_goals.error_limit, false) as is_unsustained,
        {{ loss_on('loss_goals.loss_basis') }} as loss_ratio
    from steps
    inner join numbered_runs on steps.run_id = numbered_runs.run_id
    cross join loss_goals

),

{{ run_brackets() }}

select
    {{ all_but('run_capacities', 'run_id') }},
    numbered_runs.run_id
from run_capacities
inner join numbered_runs on run_capacities.run_id = numbered_runs.run_number
