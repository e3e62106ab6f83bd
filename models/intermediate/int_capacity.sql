with

measured as (

    select * from {{ ref('int_capacity__measured') }}

),

series as (

    select * from {{ ref('int_series_variation') }}

),

configurations as (

    select * from {{ ref('int_configurations') }}

),

published as (

    select * from {{ ref('int_capacity__published') }}

),

capacities as (

    select
        configuration_id,
        loss_goal,
        loss_limit,
        loss_basis,
        cast(null as string) as figure_id,
        cast(null as string) as qualifier,
        runs,
        runs_kept,
        rate,
        rate_at_most,
        rate_median,
        rate_mean,
        rate_stdev,
        outlier_runs,
        runs_without_outliers,
        rates_without_outliers,
        rate_interpolated,
        stdev_interpolated,
        crossing_low,
        crossing_low_error,
        crossing_high,
        crossing_high_error,
        run_correlation,
        sessions,
        widening,
        interval_kind,
        ci_low,
        ci_high,
        last_passing_rate,
        first_exceeding_rate,
        resolution,
        detectable_ratio,
        runs_for_1_percent,
        runs_for_2_percent,
        runs_for_5_percent,
        status
    from measured
    union all
    select
        configuration_id,
        loss_goal,
        loss_limit,
        loss_basis,
        figure_id,
        qualifier,
        runs,
        runs_kept,
        rate,
        null as rate_at_most,
        null as rate_median,
        null as rate_mean,
        null as rate_stdev,
        null as outlier_runs,
        null as runs_without_outliers,
        null as rates_without_outliers,
        null as rate_interpolated,
        null as stdev_interpolated,
        null as crossing_low,
        null as crossing_low_error,
        null as crossing_high,
        null as crossing_high_error,
        null as run_correlation,
        null as sessions,
        null as widening,
        'none' as interval_kind,
        null as ci_low,
        null as ci_high,
        null as last_passing_rate,
        null as first_exceeding_rate,
        null as resolution,
        null as detectable_ratio,
        null as runs_for_1_percent,
        null as runs_for_2_percent,
        null as runs_for_5_percent,
        'published' as status
    from published

),

described as (

    select
        capacities.*,
        configurations.configuration,
        configurations.origin,
        configurations.campaign,
        {{ configuration_columns_of('configurations') }},
        configurations.method,
        configurations.unnamed_folder,
        configurations.rate_unit,
        configurations.usual_goal,
        configurations.drop_time_s,
        configurations.first_started_at,
        configurations.last_started_at,
        configurations.is_newest,
        configurations.started_on,
        configurations.campaign_batch,
        series.series_campaigns,
        series.series_variation
    from capacities
    inner join configurations on capacities.configuration_id = configurations.configuration_id
    left join series
        on capacities.configuration_id = series.configuration_id
            and capacities.loss_goal = series.loss_goal

),

with_products as (

    select
        *,
        -- that of its campaign, if a configuration does not say it
        coalesce(product, case when min(product) over of_campaign = max(product) over of_campaign
                then min(product) over of_campaign
        end) as comparable_product
    from described
    window of_campaign as (partition by campaign, rate_unit)

),

with_comparable_key as (

    select
        {{ all_but('with_products', 'comparable_product') }},
        {{ surrogate_key(
            'comparable_product, product_version, scenario, testbed, tool, method, unnamed_folder, rate_unit, origin, '
            ~ 'loss_goal'
        ) }} as comparable_key
    from with_products

)

select * from with_comparable_key
