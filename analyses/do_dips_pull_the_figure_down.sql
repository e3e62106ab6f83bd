-- Do runs that dip (a busy neighbour, a pause) pull the rate at the limit down, and what is it without them?
with

capacity as (

    select * from {{ ref('capacity') }}
    where origin = 'measured' and loss_goal = usual_goal and rate_interpolated is not null

),

run_capacity as (

    select * from {{ ref('run_capacity') }}

),

all_runs as (

    select
        configuration_id,
        loss_goal,
        arg_min(repetition, rate_interpolated) as lowest_repetition,
        min(rate_interpolated) as lowest_rate,
        avg(rate_interpolated) as rate_with_dips
    from run_capacity
    group by configuration_id, loss_goal

),

with_dips as (

    select
        capacity.configuration,
        capacity.campaign,
        capacity.runs,
        capacity.outlier_runs,
        all_runs.rate_with_dips,
        capacity.rate_interpolated,
        all_runs.rate_with_dips / capacity.rate_interpolated - 1 as pulled_ratio,
        all_runs.lowest_repetition,
        all_runs.lowest_rate
    from capacity
    inner join all_runs
        on capacity.configuration_id = all_runs.configuration_id
            and capacity.loss_goal = all_runs.loss_goal

)

select * from with_dips
order by outlier_runs desc, pulled_ratio asc, configuration asc
