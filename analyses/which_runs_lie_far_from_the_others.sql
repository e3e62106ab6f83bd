-- Which runs are over 10 % off the median of their configuration, and would be repeated first?
with

run_capacity as (

    select * from {{ ref('run_capacity') }}
    where loss_goal = usual_goal

),

with_median as (

    select
        configuration,
        campaign,
        repetition,
        run_id,
        rate,
        nullif(median(rate) over (partition by configuration_id), 0) as rate_median
    from run_capacity

),

far_runs as (

    select
        *,
        rate / rate_median - 1 as deviation_ratio
    from with_median
    where abs(rate / rate_median - 1) > 0.1

)

select * from far_runs
order by abs(deviation_ratio) desc
