with

runs as (

    select * from {{ ref('int_runs__identified') }}

),

run_capacity as (

    select * from {{ ref('int_run_capacity') }}

),

campaigns as (

    select * from {{ ref('stg_campaigns') }}

),

hosts as (

    select * from {{ ref('stg_hosts') }}
    qualify row_number() over (partition by host_id order by batch desc, campaign asc) = 1

),

rated_runs as (

    select
        runs.*,
        {{ undated('runs.unnamed_folder') }} as undated_folder,
        run_capacity.loss_goal,
        run_capacity.rate,
        run_capacity.rate_interpolated,
        run_capacity.crossing_low,
        run_capacity.crossing_high,
        run_capacity.bracket_low,
        run_capacity.bracket_high,
        run_capacity.status,
        run_capacity.is_disturbed,
        hosts.kernel,
        concat_ws(
            ' ',
            coalesce(hosts.cpu_model, hosts.name),
            hosts.cpu_threads || ' CPUs',
            cast(round(hosts.memory_bytes / 1073741824) as bigint) || ' GiB',
            left(runs.host_id, 6)
        ) as machine,
        coalesce(runs.started_at, cast(campaigns.started_on as timestamp)) as known_time,
        campaigns.batch as campaign_batch
    from runs
    inner join run_capacity on runs.run_id = run_capacity.run_id
    left join hosts on runs.host_id = hosts.host_id
    left join campaigns on runs.campaign = campaigns.campaign

),

points as (

    select
        *,
        {{ surrogate_key(set_up_columns() ~ ', loss_goal') }} as series_id,
        concat_ws(
            ' ', product, protocol, backend,
            case when threading = 'multi' and threads is not null then 'multi x' || threads else threading end,
            case when ha_mode <> 'none' then ha_mode end,
            case when scenario <> 'basic' then scenario end, nullif(nullif(undated_folder, '.'), ''),
            {{ frames_of('method') }}
        ) as series
    from rated_runs

),

placed as (

    select
        *,
        row_number() over in_time as place,
        count(*) over (partition by series_id) as series_runs,
        lag(product_version) over in_time as version_before,
        lag(machine) over in_time as machine_before,
        lag(kernel) over in_time as kernel_before,
        lag(server_config_id) over in_time as server_config_before,
        lag(backend_version) over in_time as backend_version_before,
        lag(packet_queue_size) over in_time as queue_before,
        lag(tool_version) over in_time as tool_version_before,
        lag(drop_time_s) over in_time as drop_time_before,
        lag(run_id) over in_time is not null as has_one_before
    from points
    window in_time as (
        partition by series_id
        -- without times the date in names, then the version (9.9 is before 9.10), then which campaign came first
        order by
            known_time nulls first, named_time nulls first, {{ version_order('product_version') }},
            campaign_batch nulls first, campaign, unnamed_folder, configuration_id, repetition nulls first, run_id
    )

),

with_changes as (

    select
        *,
        has_one_before and coalesce(product_version, '') <> coalesce(version_before, '') as is_version_changed,
        case
            when has_one_before
                then
                    {{ list_of_known([
                        what_changed('machine', 'machine_before', 'machine'),
                        what_changed('kernel', 'kernel_before', 'kernel'),
                        what_changed('server configuration', 'server_config_before', 'server_config_id'),
                        what_changed('backend version', 'backend_version_before', 'backend_version'),
                        what_changed('packet queue', 'queue_before', 'packet_queue_size'),
                        what_changed('generator version', 'tool_version_before', 'tool_version'),
                        what_changed('drop time', 'drop_time_before', 'drop_time_s')
                    ]) }}
            else {{ list_of([]) }}
        end as environment_changes,
        -- most of nine runs in turn show that the server need not fail there
        coalesce(is_disturbed, false)
        and 2 * count(case when not is_disturbed then 1 end) over nearby > count(*) over nearby as is_left_out
    from placed
    window nearby as (
        partition by series_id
        order by place
        rows between 4 preceding and 4 following
    )

)

-- without what only leads to the changes
select
    {{ all_but(
        'with_changes',
        'is_disturbed, known_time, campaign_batch, named_time, first_path, backend_version, tool_version, unnamed_folder, undated_folder, options, repetition, '
        ~ 'drop_time_s, host_id, server_config_id, ended_at, trials, steps, lowest_offered_rate, highest_offered_rate, '
        ~ 'highest_achieved_rate, shortest_period_s, usual_period_s, requests, method, kernel, machine, version_before, machine_before, '
        ~ 'kernel_before, server_config_before, backend_version_before, queue_before, tool_version_before, '
        ~ 'drop_time_before, has_one_before'
    ) }}
from with_changes
