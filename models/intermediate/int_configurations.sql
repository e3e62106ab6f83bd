with

runs as (

    select * from {{ ref('int_runs__identified') }}

),

published as (

    select * from {{ ref('int_capacity__published') }}

),

run_capacity as (

    select * from {{ ref('int_run_capacity') }}

),

campaigns as (

    select * from {{ ref('stg_campaigns') }}

),

goals_of_runs as (

    select
        run_id,
        bool_or(loss_goal = 'throughput') as has_throughput,
        bool_or(loss_goal = 'permille' and rate is not null) as is_sustained
    from run_capacity
    where loss_goal in ('permille', 'throughput')
    group by run_id

),

judged_runs as (

    select
        runs.*,
        goals_of_runs.has_throughput,
        goals_of_runs.is_sustained
    from runs
    left join goals_of_runs on runs.run_id = goals_of_runs.run_id

),

measured_configurations as (

    select
        configuration_id,
        any_value(configuration) as configuration,
        'measured' as origin,
        campaign,
        {{ any_configuration_columns() }},
        any_value(method) as method,
        any_value(unnamed_folder) as unnamed_folder,
        any_value(rate_unit) as rate_unit,
        any_value(drop_time_s) as drop_time_s,
        min(host_id) as host_id,
        min(server_config_id) as server_config_id,
        min(started_at) as first_started_at,
        max(started_at) as last_started_at,
        count(*) as runs,
        sum(trials) as trials,
        case
            -- where no set rate was sustained
            when bool_or(has_throughput) and not coalesce(bool_or(is_sustained), false) then 'throughput'
            else {{ usual_goal_of('any_value(rate_unit)') }}
        end as usual_goal
    from judged_runs
    group by configuration_id, campaign

),

published_configurations as (

    select
        configuration_id,
        any_value(configuration) as configuration,
        'published' as origin,
        campaign,
        {{ any_configuration_columns() }},
        any_value(method) as method,
        any_value(unnamed_folder) as unnamed_folder,
        any_value(rate_unit) as rate_unit,
        any_value(drop_time_s) as drop_time_s,
        any_value(testbed) as host_id,
        cast(null as string) as server_config_id,
        null as first_started_at,
        null as last_started_at,
        max(runs) as runs,
        cast(null as bigint) as trials,
        {{ usual_goal_of('any_value(rate_unit)') }} as usual_goal
    from published
    group by configuration_id, campaign

),

combined as (

    select * from measured_configurations
    union all
    select * from published_configurations

),

undated as (

    select
        combined.*,
        campaigns.started_on,
        campaigns.batch as campaign_batch,
        {{ undated('combined.unnamed_folder') }} as undated_folder
    from combined
    left join campaigns on combined.campaign = campaigns.campaign

),

with_newest as (

    select
        *,
        origin = 'published'
        or (
            campaign = first_value(campaign) over newest_first
            and configuration_id = first_value(configuration_id) over newest_night_first
        ) as is_newest
    from undated
    window
        newest_first as (
            partition by {{ set_up_columns() }}
            -- many generators print no times: then the campaign gives the day, or else the last to come is the newest
            order by
                coalesce(last_started_at, cast(started_on as timestamp)) desc nulls last,
                campaign_batch desc nulls last, campaign desc
        ),
        newest_night_first as (
            partition by
                {{ set_up_columns() }}, campaign, product_version, backend_version, packet_queue_size, tool_version,
                drop_time_s
            order by last_started_at desc nulls last, unnamed_folder desc, configuration_id asc
        )

)

select {{ all_but('with_newest', 'undated_folder') }}
from with_newest
