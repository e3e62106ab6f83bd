with

points as (

    select * from {{ ref('int_trend_points') }}

),

changed_series as (

    select
        series_id,
        place,
        rate_interpolated,
        crossing_low,
        crossing_high,
        bracket_low,
        bracket_high
    from points
    where {{ is_changed_series() }}

)

select * from changed_series
