with

trials as (

    select * from {{ ref('int_trials__measured') }}

),

-- these tell the time of their machine only, or when a log got the output: it puts runs in order, but no readings of
-- another clock beside them
local_starts as (

    select
        run_id,
        min(
            coalesce(
                {{ asctime(json_text('details', 'started_at_local')) }},
                cast({{ json_text('details', 'printed_at') }} as timestamp)
            )
        ) as started_at
    from trials
    where started_at is null and (tool in ('dnsperf', 'queryperf') or details like '%"printed_at"%')
    group by run_id

),

runs as (

    select
        run_id,
        campaign,
        {{ any_configuration_columns() }},
        any_value(unnamed_folder) as unnamed_folder,
        min(source_path) as first_path,
        any_value(method) as options,
        any_value(repetition) as repetition,
        any_value(is_numbered_by_order) as is_numbered_by_order,
        any_value(rate_unit) as rate_unit,
        any_value(drop_time_s) as drop_time_s,
        min(host_id) as host_id,
        min(server_config_id) as server_config_id,
        min(started_at) as started_at,
        max(ended_at) as ended_at,
        count(*) as trials,
        count(distinct offered_rate) as steps,
        min(offered_rate) as lowest_offered_rate,
        max(offered_rate) as highest_offered_rate,
        max(achieved_rate) as highest_achieved_rate,
        min(test_period_s) as shortest_period_s,
        percentile_disc(0.5) within group (order by duration_s) as usual_period_s,
        -- each trial with as many requests (perfdhcp -n), so of another period at each rate
        case
            when
                bool_or(duration_s <> floor(duration_s))
                and max(offered_rate * duration_s) - min(offered_rate * duration_s) < 0.001
                then round(max(offered_rate * duration_s))
        end as requests,
        -- or with about as many, where a script rounds the period
        count(distinct duration_s) > 2
        and max(offered_rate * duration_s) * min(duration_s) < min(offered_rate * duration_s) * max(duration_s)
            as has_period_by_rate
    from trials
    where duplicate_of is null
    group by run_id, campaign

),

with_plain_folder as (

    select
        {{ all_but('runs', 'started_at') }},
        coalesce(runs.started_at, local_starts.started_at) as started_at,
        case
            when runs.unnamed_folder is not null
                then nullif(nullif({{ parts_where('runs.unnamed_folder', '/', 'not ' ~ fits(
                    'part', "'(?i)^(data|logs?|measurements?|out|outputs?|raw|results?|runs?|trials?)$'"
                ) ) }}, ''), '.')
        end as plain_folder
    from runs
    left join local_starts on runs.run_id = local_starts.run_id

),

-- a folder that only keeps the outputs says nothing of the set-up, unless there are two
with_folder as (

    select
        {{ all_but('with_plain_folder', 'unnamed_folder, plain_folder') }},
        case
            when min(coalesce(unnamed_folder, '.')) over alike = max(coalesce(unnamed_folder, '.')) over alike
                then plain_folder
            else unnamed_folder
        end as unnamed_folder
    from with_plain_folder
    window alike as (partition by campaign, {{ configuration_columns() }}, plain_folder)

),

with_method as (

    select
        {{ all_but('with_folder', 'has_period_by_rate') }},
        concat_ws(
            '; ',
            -- perfdhcp's planned period; what other tools print is the time that it took
            case
                when with_folder.tool = 'perfdhcp'
                    then coalesce(
                            {{ short_number('with_folder.requests') }} || ' requests',
                            case when with_folder.has_period_by_rate then 'period by rate' end,
                            'period ' || {{ short_number('with_folder.usual_period_s') }} || ' s'
                        )
            end,
            with_folder.options
        ) as method
    from with_folder

),

identified as (

    select
        *,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', unnamed_folder, method') }} as configuration_id,
        {{ configuration_label() }} as configuration,
        {{ time_in("concat_ws('/', campaign, first_path)") }} as named_time
    from with_method

),

with_day as (

    select
        *,
        coalesce(
            cast(cast(started_at as date) as string),
            {{ day_of('named_time') }}
        ) as measured_on
    from identified

),

with_breaks as (

    select
        *,
        coalesce({{ seconds_between('lag(started_at) over in_time', 'started_at') }} > 6 * 3600, true) as is_after_break
    from with_day
    -- versions in turn share a night
    window in_time as (partition by campaign, host_id order by started_at, run_id)

),

with_beginning as (

    select
        *,
        case when started_at is not null then max(case when is_after_break then started_at end) over in_time end
            as session_began_at
    from with_breaks
    window in_time as (partition by campaign, host_id order by started_at, run_id)

),

with_days as (

    select
        *,
        cast(floor({{ seconds_between('session_began_at', 'started_at') }} / 86400) as bigint) as days_before
    from with_beginning

),

with_session as (

    select
        *,
        concat_ws(' ', campaign, host_id, coalesce(
            -- a night may end on the next day; where nobody pauses, each day is a session
            left(cast(session_began_at as string), 16)
            || coalesce(' day ' || nullif(days_before, 0), ''),
            -- without times, a date in names distinguishes nights
            measured_on,
            configuration_id
        )) as session
    from with_days

)

select {{ all_but('with_session', 'is_after_break, session_began_at, days_before') }} from with_session
