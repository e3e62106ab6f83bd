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
    left join trials
        on observations.trial_id = trials.trial_id
            and observations.batch = trials.batch
    left join files
        on observations.campaign = files.campaign
            and observations.source_path = files.source_path
            and observations.batch = files.batch
    where
        {{ is_changed('observations.campaign') }}
        and (trials.trial_id is not null or (observations.trial_id is null and files.batch is not null))

)

select * from current_versions
