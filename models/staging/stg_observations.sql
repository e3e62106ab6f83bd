with

observations as (

    select * from {{ source('lake', 'observations') }}

),

trials as (

    select * from {{ ref('stg_trials') }}

),

current_versions as (

    select
        observations.trial_id,
        observations.batch,
        observations.campaign,
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

)

select * from current_versions
