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

of_set_ups as (

    select
        trials.*,
        servers.ha_server_name,
        hash(trials.campaign, {{ configuration_columns_of('trials') }}) as configuration_hash,
        {{ with_any_number("concat_ws('/', nullif(trials.context_path, '.'), trials.name_words)") }} as place,
        coalesce(trials.context_sources['context_path'] = 'path', false) as is_described,
        coalesce(trials.context_sources['context_path'] = 'path beside a sidecar', false) as is_beside_sidecar
    from trials
    left join servers on trials.server_config_id = servers.server_config_id

),

-- set-ups that the server's configuration does not tell apart, but words of their folders, or the server's name in its
-- pair; other dates and numbers count runs
alike_in_folders as (

    select configuration_hash
    from of_set_ups
    group by configuration_hash
    having
        count(distinct {{ with_any_number('context_path') }}) > 1
        or count(distinct ha_server_name) > 1

),

-- nor do their sidecars; a folder or file for each trial only keeps it
beside_sidecars as (

    select
        configuration_hash,
        coalesce(min(repetition) < max(repetition), false) as are_runs_numbered
    from of_set_ups
    where is_beside_sidecar
    group by configuration_hash
    having 2 * count(distinct place) <= count(*)

),

-- where sidecars number no runs, names with a number may do so
runs_beside_sidecars as (

    select
        of_set_ups.configuration_hash,
        count(distinct of_set_ups.place) filter (
            where beside_sidecars.are_runs_numbered or of_set_ups.place not like '%#%'
        ) > 1 as is_told_apart
    from of_set_ups
    inner join beside_sidecars on of_set_ups.configuration_hash = beside_sidecars.configuration_hash
    where of_set_ups.is_beside_sidecar
    group by
        of_set_ups.configuration_hash,
        of_set_ups.method,
        of_set_ups.repetition

),

alike_beside_sidecars as (

    select configuration_hash
    from runs_beside_sidecars
    group by configuration_hash
    having 2 * count(*) filter (where is_told_apart) > count(*)

),

with_own_words as (

    select
        {{ all_but('of_set_ups', 'name_words') }},
        alike_in_folders.configuration_hash is not null as is_alike_in_folders,
        of_set_ups.is_beside_sidecar
        and alike_beside_sidecars.configuration_hash is not null as is_alike_beside_sidecar,
        case
            when alike_beside_sidecars.configuration_hash is not null or not of_set_ups.is_beside_sidecar
                then of_set_ups.name_words
        end as name_words
    from of_set_ups
    left join alike_in_folders on of_set_ups.configuration_hash = alike_in_folders.configuration_hash
    left join alike_beside_sidecars on of_set_ups.configuration_hash = alike_beside_sidecars.configuration_hash

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
    hash(trials.configuration_hash, trials.context_path, trials.name_words) as place_hash,
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
        when trials.is_alike_beside_sidecar
            then nullif(concat_ws('/', nullif(trials.context_path, '.'), trials.name_words), '')
        when trials.is_described and trials.is_alike_in_folders
            then concat_ws('/', trials.context_path, trials.name_words)
        else trials.name_words
    end as unnamed_folder,
    case when trials.is_described then trials.context_path end as described_folder
from with_own_words as trials
left join described_campaigns on trials.campaign = described_campaigns.campaign
