-- Which single changes of a measured set-up paid off, and which cost most, at the usual loss goal?
with

ratios as (

    select * from {{ ref('ratios') }}
    where origin = 'measured'
        and loss_goal = usual_goal
        and verdict not in ('limits not reached', 'not testable')

),

paid as (

    select
        factor,
        baseline,
        treatment,
        ratio_interpolated,
        ci_low,
        ci_high,
        verdict
    from ratios

)

select * from paid
order by ratio_interpolated desc
