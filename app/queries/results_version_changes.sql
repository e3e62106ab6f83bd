with

points as (

    select
        *,
        sum(cast(is_version_changed as integer)) over (partition by series_id order by place) as stretch,
        count(rate_interpolated) over (partition by series_id) as crossings
    from trends
    where
        loss_goal
        = coalesce($loss_goal, case when list_contains($dhcp_units, rate_unit) then $dhcp_goal else $other_goal end)

),

stretches as (

    select
        series_id,
        stretch,
        any_value(series) as series,
        any_value(rate_unit) as rate_unit,
        any_value(crossings) as crossings,
        any_value(product_version) as version,
        if(any_value(crossings) < 4, median(rate_interpolated), arg_max(level, place)) as level,
        count(*) as runs,
        bool_or(is_change) as is_changed,
        max(started_at) as started_at
    from points
    group by series_id, stretch

),

beside as (

    select
        *,
        lag(version) over in_time as previous_version,
        lag(level) over in_time as previous_level,
        lag(runs) over in_time as previous_runs
    from stretches
    window in_time as (partition by series_id order by stretch)
    qualify row_number() over (partition by series_id order by stretch desc) = 1

)

select
    series_id,
    series,
    rate_unit,
    version,
    previous_version,
    level,
    previous_level,
    runs,
    previous_runs,
    started_at,
    case
        when crossings < 4 or level is null or previous_level is null then 'too few runs'
        when is_changed and level > previous_level then 'faster'
        when is_changed and level < previous_level then 'slower'
        else 'no evidence'
    end as verdict
from beside
where previous_runs is not null
order by
    verdict not in ('slower', 'faster'), abs(ln(nullif(level, 0) / nullif(previous_level, 0))) desc nulls last,
    started_at desc nulls last, series asc, series_id asc
