with

points as (

    select * from {{ ref('int_trend_points') }}

),

changed_series as (

    select
        series_id,
        place,
        rate
    from points
    where {{ is_changed_series() }}

)

select * from changed_series
