with

observations as (

    select * from {{ source('lake', 'observations') }}

),

trials as (

    select * from {{ ref('stg_trials') }}

),

files as (

    select * from {{ ref('stg_raw_files') }}

),

current_versions as (

    select
        observations.trial_id,
        observations.batch,
        observations.campaign,
        observations.source_path,
        observations.beside,
        observations.moment,
        observations.observed_at,
        observations.host,
        observations.metric,
        observations.label,
        observations.t_s,
        observations.value,
        observations.unit
    from observations
    inner join trials
        on observations.trial_id = trials.trial_id
            and observations.batch = trials.batch
    where {{ is_changed('observations.campaign') }}
    union all
    select
        observations.trial_id,
        observations.batch,
        observations.campaign,
        observations.source_path,
        observations.beside,
        observations.moment,
        observations.observed_at,
        observations.host,
        observations.metric,
        observations.label,
        observations.t_s,
        observations.value,
        observations.unit
    from observations
    inner join files
        on observations.campaign = files.campaign
            and observations.source_path = files.source_path
            and observations.batch = files.batch
    where
        {{ is_changed('observations.campaign') }}
        and observations.trial_id is null

)

select * from current_versions
