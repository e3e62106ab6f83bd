-- Do runs that dip (a busy neighbour, a pause) pull the figure down, and what would it be without them?
with

capacity as (

    select * from {{ ref('capacity') }}
    where origin = 'measured' and loss_goal = 'isc' and rate is not null

),

run_capacity as (

    select * from {{ ref('run_capacity') }}

),

lowest_runs as (

    select
        configuration_id,
        loss_goal,
        arg_min(repetition, rate) as lowest_repetition,
        min(rate) as lowest_rate
    from run_capacity
    group by configuration_id, loss_goal

),

with_dips as (

    select
        capacity.configuration,
        capacity.campaign,
        capacity.runs,
        capacity.outlier_runs,
        capacity.rate,
        capacity.rate_interpolated,
        capacity.rate / capacity.rate_interpolated - 1 as pulled_ratio,
        lowest_runs.lowest_repetition,
        lowest_runs.lowest_rate,
        capacity.resolution
    from capacity
    inner join lowest_runs
        on capacity.configuration_id = lowest_runs.configuration_id
            and capacity.loss_goal = lowest_runs.loss_goal

)

select * from with_dips
order by outlier_runs desc, pulled_ratio asc, configuration asc
