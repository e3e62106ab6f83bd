-- What does each thread bring, and where does Gunther's law put the peak?
with

points as (

    select * from {{ ref('thread_scaling_points') }}

),

scaling as (

    select * from {{ ref('thread_scaling') }}

),

with_law as (

    select
        points.family,
        points.campaign,
        points.loss_goal,
        points.threads,
        points.rate,
        points.rate_unit,
        points.efficiency_ratio,
        points.is_above_cores,
        points.fitted_rate,
        scaling.peak_threads,
        scaling.next_gain_ratio,
        scaling.status,
        scaling.reason
    from points
    inner join scaling on points.family_id = scaling.family_id
    where points.loss_goal in (scaling.usual_goal, 'unstated')

)

select * from with_law
order by campaign, family, loss_goal, threads
