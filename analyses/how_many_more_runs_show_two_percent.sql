-- How many more runs does each configuration need until a change of 2 % shows?
-- Where the step is above five times the spread of the runs (resolution_ratio), finer steps help, more runs do not.
with

capacity as (

    select * from {{ ref('capacity') }}
    where origin = 'measured' and loss_goal = usual_goal and runs_for_2_percent is not null

),

missing_runs as (

    select
        configuration,
        campaign,
        runs_without_outliers,
        runs_for_2_percent,
        greatest(0, runs_for_2_percent - runs_without_outliers) as more_runs,
        detectable_ratio,
        resolution / rate as resolution_ratio
    from capacity

)

select * from missing_runs
order by more_runs, configuration
