with

steps as (

    select * from {{ ref('int_steps') }}

),

loss_goals as (

    select * from {{ ref('loss_goals') }}
    where loss_limit is not null

),

judged_steps as (

    select
        steps.run_id,
        loss_goals.loss_goal,
        loss_goals.loss_limit,
        loss_goals.loss_basis,
        steps.offered_rate,
        steps.achieved_rate,
        steps.is_generator_limited,
        {{ faults_at('loss_goals.error_limit', 'steps.') }},
        steps.loss_lease,
        {{ loss_on('loss_goals.loss_basis') }} as loss_ratio
    from steps
    cross join loss_goals

),

{{ run_brackets() }}

select * from run_capacities
