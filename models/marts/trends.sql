with

points as (

    select * from {{ ref('int_trend_points') }}

),

trends as (

    select * from {{ ref('int_trends') }}

),

configurations as (

    select * from {{ ref('int_configurations') }}

)

select
    points.series_id,
    points.series,
    points.loss_goal,
    configurations.usual_goal,
    trends.place,
    points.series_runs,
    points.run_id,
    points.configuration_id,
    points.configuration,
    points.campaign,
    points.product,
    points.product_version,
    points.protocol,
    points.backend,
    points.threading,
    points.threads,
    points.ha_mode,
    points.scenario,
    points.testbed,
    points.tool,
    points.rate_unit,
    {{ utc_time('points.started_at') }} as started_at,
    points.measured_on,
    points.rate_interpolated,
    points.crossing_low,
    points.crossing_high,
    points.rate,
    points.status,
    trends.level,
    trends.is_dip,
    trends.is_change,
    trends.level_before,
    trends.level / nullif(trends.level_before, 0) as change_ratio,
    trends.is_drift,
    trends.is_spread_changed,
    trends.is_other_session,
    trends.change_p_value,
    points.is_version_changed,
    points.environment_changes
from points
inner join trends
    on points.series_id = trends.series_id
        and points.place = trends.place
inner join configurations on points.configuration_id = configurations.configuration_id
