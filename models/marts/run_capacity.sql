with

run_capacity as (

    select * from {{ ref('int_run_capacity') }}

),

runs as (

    select * from {{ ref('int_runs__identified') }}

),

configurations as (

    select * from {{ ref('int_configurations') }}

)

select
    run_capacity.run_id,
    runs.configuration_id,
    runs.configuration,
    runs.campaign,
    runs.repetition,
    runs.rate_unit,
    run_capacity.loss_goal,
    run_capacity.loss_limit,
    run_capacity.loss_basis,
    configurations.usual_goal,
    run_capacity.rate,
    run_capacity.rate_interpolated,
    run_capacity.crossing_low,
    run_capacity.crossing_high,
    run_capacity.bracket_low,
    run_capacity.bracket_high,
    run_capacity.last_passing_rate,
    run_capacity.last_passing_loss,
    run_capacity.first_exceeding_rate,
    run_capacity.first_exceeding_loss,
    run_capacity.dips_back,
    run_capacity.is_disturbed,
    run_capacity.status
from run_capacity
inner join runs on run_capacity.run_id = runs.run_id
inner join configurations on runs.configuration_id = configurations.configuration_id
