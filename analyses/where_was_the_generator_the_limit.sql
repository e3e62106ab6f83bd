-- Where did the generator fall behind what it was asked for, so that it was measured instead of the server?
with

steps as (

    select * from {{ ref('run_steps') }}

),

runs as (

    select * from {{ ref('runs') }}

),

limited as (

    select
        runs.configuration,
        runs.repetition,
        steps.offered_rate,
        steps.achieved_rate,
        runs.rate_unit,
        runs.rate as capacity_rate,
        runs.status,
        runs.tool,
        runs.tool_version
    from steps
    inner join runs on steps.run_id = runs.run_id
    where steps.is_generator_limited

)

select * from limited
order by configuration, repetition, offered_rate
