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

-- set-ups that the server's configuration does not tell apart, but words of their folders, or the server's name in its
-- pair; other dates and numbers count runs
alike_in_folders as (

    select hash(trials.campaign, {{ configuration_columns_of('trials') }}) as configuration_hash
    from trials
    left join servers
        on trials.server_config_id = servers.server_config_id
    group by hash(trials.campaign, {{ configuration_columns_of('trials') }})
    having
        count(distinct {{ with_any_number('trials.context_path') }}) > 1
        or count(distinct servers.ha_server_name) > 1

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
        when
            trials.context_sources['context_path'] is not null
            and hash(trials.campaign, {{ configuration_columns_of('trials') }})
            in (select alike_in_folders.configuration_hash from alike_in_folders)
            then concat_ws('/', trials.context_path, trials.name_words)
        else trials.name_words
    end as unnamed_folder,
    case when trials.context_sources['context_path'] is not null then trials.context_path end as described_folder
from trials
left join described_campaigns on trials.campaign = described_campaigns.campaign
