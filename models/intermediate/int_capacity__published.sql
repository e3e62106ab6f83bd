with

figures as (

    select * from {{ ref('stg_published_figures') }}

),

loss_goals as (

    select * from {{ ref('loss_goals') }}

),

capacities as (

    select
        figures.figure_id,
        figures.source_id as campaign,
        {{ configuration_columns_of('figures') }},
        concat_ws(
            '; ',
            figures.scenario_detail,
            'layer ' || cast(figures.osi_layer as string),
            -- the protocol of DHCP names the version already
            case when figures.domain <> 'dhcp' then 'IPv' || cast(figures.ip_version as string) end,
            figures.transport
        ) as conditions,
        cast(null as string) as unnamed_folder,
        figures.rate_unit,
        figures.drop_time_s,
        coalesce(loss_goals.loss_goal, 'unstated') as loss_goal,
        figures.loss_limit_ratio as loss_limit,
        figures.loss_basis,
        figures.repetitions as runs,
        figures.repetitions - coalesce(figures.discard_lowest + figures.discard_highest, 0) as runs_kept,
        figures.value as rate,
        figures.qualifier,
        figures.quality_flag
    from figures
    left join loss_goals on figures.loss_limit_ratio = loss_goals.loss_limit
    where figures.rate_unit is not null and figures.value is not null

),

told_apart as (

    select
        *,
        -- a source may give several figures of one configuration: they stay several
        concat_ws(
            '; ',
            nullif(conditions, ''),
            case
                when
                    count(*) over (
                        partition by campaign, {{ configuration_columns() }}, rate_unit, conditions, loss_goal
                    ) > 1
                    then 'figure ' || figure_id
            end
        ) as method
    from capacities

),

identified as (

    select
        *,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', rate_unit, method') }} as configuration_id,
        {{ configuration_label() }} as configuration
    from told_apart

)

select * from identified
