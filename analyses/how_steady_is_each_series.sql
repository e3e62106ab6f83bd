-- How steady is each series of runs: does it dip, did its level change, and what else changed then?
with

trends as (

    select * from {{ ref('trends') }}
    where loss_goal = usual_goal

),

series as (

    select
        series_id,
        series,
        any_value(rate_unit) as rate_unit,
        count(distinct campaign) as campaigns,
        count(*) as runs,
        count(*) filter (where is_dip) as dips,
        count(*) filter (where is_change) as changes,
        arg_max(level, place) as last_level,
        arg_max(change_ratio, place) filter (where is_change) as last_change_ratio,
        arg_max(started_at, place) filter (where is_change) as last_change_at,
        arg_max(environment_changes, place) filter (where is_change) as changed_beside_it
    from trends
    group by series_id, series

)

select * from series
order by changes desc, dips desc, series asc
