with

observations_of_trials as (

    select * from {{ source('lake', 'observations') }}
    where trial_id is not null

),

observations_beside as (

    select * from {{ source('lake', 'observations') }}
    where trial_id is null

),

superseded as (

    select * from {{ ref('stg_superseded_trials') }}

),

files as (

    select * from {{ ref('stg_raw_files') }}

),

current_versions as (

    select
        observations_of_trials.trial_id,
        observations_of_trials.batch,
        observations_of_trials.campaign,
        observations_of_trials.source_path,
        observations_of_trials.beside,
        observations_of_trials.moment,
        observations_of_trials.observed_at,
        observations_of_trials.host,
        observations_of_trials.metric,
        observations_of_trials.label,
        observations_of_trials.t_s,
        observations_of_trials.value,
        observations_of_trials.unit
    from observations_of_trials
    anti join superseded
        on observations_of_trials.trial_id = superseded.trial_id
            and observations_of_trials.batch = superseded.batch
    union all
    select
        observations_beside.trial_id,
        observations_beside.batch,
        observations_beside.campaign,
        observations_beside.source_path,
        observations_beside.beside,
        observations_beside.moment,
        observations_beside.observed_at,
        observations_beside.host,
        observations_beside.metric,
        observations_beside.label,
        observations_beside.t_s,
        observations_beside.value,
        observations_beside.unit
    from observations_beside
    inner join files
        on observations_beside.campaign = files.campaign
            and observations_beside.source_path = files.source_path
            and observations_beside.batch = files.batch

)

select * from current_versions
