with

measured as (

    select * from {{ ref('int_capacity__measured') }}

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
        cast(null as varchar) as figure_id,
        cast(null as varchar) as qualifier,
        runs,
        runs_kept,
        rate,
        rate_median,
        rate_mean,
        rate_stdev,
        rated_runs,
        ci_low,
        ci_high,
        rate_interpolated,
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
        null as rate_median,
        null as rate_mean,
        null as rate_stdev,
        null as rated_runs,
        null as ci_low,
        null as ci_high,
        null as rate_interpolated,
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
        configurations.drop_time_s,
        configurations.first_started_at,
        configurations.last_started_at
    from capacities
    inner join configurations on capacities.configuration_id = configurations.configuration_id

)

select * from described
