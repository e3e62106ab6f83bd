with

trials as (

    select * from {{ ref('stg_trials') }}

),

files as (

    select * from {{ ref('stg_raw_files') }}

),

servers as (

    select * from {{ ref('stg_server_configs') }}

),

described_campaigns as (

    select distinct campaign
    from files
    where format = 'campaign'

),

in_folders as (

    select
        trials.context_path,
        servers.ha_server_name,
        hash(trials.campaign, {{ configuration_columns_of('trials') }}) as configuration_hash,
        min(trials.context_path) over (
            partition by hash(trials.campaign, {{ configuration_columns_of('trials') }})
        ) as first_folder
    from trials
    left join servers on trials.server_config_id = servers.server_config_id

),

-- set-ups that the server's configuration does not tell apart, but words of their folders, or the server's name in its
-- pair; other dates and numbers count runs
alike_in_folders as (

    select
        configuration_hash,
        case
            when bool_and(left(context_path || '/', length(first_folder) + 1) = first_folder || '/')
                then any_value(first_folder)
        end as folder_of_all
    from in_folders
    group by configuration_hash
    having
        count(distinct {{ with_any_number('context_path') }}) > 1
        or count(distinct ha_server_name) > 1

)

select
    trials.trial_id,
    trials.campaign,
    trials.source_path,
    trials.stem,
    trials.report_index,
    {{ configuration_columns_of('trials') }},
    trials.method,
    trials.repetition,
    trials.offered_rate,
    trials.achieved_rate,
    trials.sent,
    trials.received,
    trials.started_at,
    trials.server_wiped,
    trials.command is not null as has_command,
    trials.rate_unit,
    {{ json_text('trials.details', 'run') }} as tool_run,
    coalesce(trials.method like 'statistics polls%', false) as is_of_polls,
    hash(trials.campaign, {{ configuration_columns_of('trials') }}, trials.context_path, trials.name_words)
        as place_hash,
    case
        -- nothing but folder and file name tell such trials apart
        when
            (described_campaigns.campaign is null and trials.scenario is null)
            or (trials.product is null and trials.backend is null and trials.threading is null)
            then
                case
                    when trials.context_path = '.' and coalesce(trials.name_words, trials.scenario) is not null
                        then trials.name_words
                    else concat_ws('/', trials.context_path, trials.name_words)
                end
        when alike_in_folders.configuration_hash is not null and trials.context_sources['context_path'] is not null
            then
                nullif(concat_ws(
                    '/',
                    case
                        when alike_in_folders.folder_of_all is null then trials.context_path
                        else nullif(substr(trials.context_path, length(alike_in_folders.folder_of_all) + 2), '')
                    end,
                    trials.name_words
                ), '')
        else trials.name_words
    end as unnamed_folder,
    case when trials.context_sources['context_path'] is not null then trials.context_path end as described_folder
from trials
left join described_campaigns on trials.campaign = described_campaigns.campaign
left join alike_in_folders
    on hash(trials.campaign, {{ configuration_columns_of('trials') }}) = alike_in_folders.configuration_hash
