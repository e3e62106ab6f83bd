with

observations_of_trials as (

    select * from {{ ref('stg_observations') }}
    where trial_id is not null

),

observations_beside as (

    select * from {{ ref('stg_observations') }}
    where trial_id is null

),

observed_files as (

    select * from {{ ref('int_observed_files') }}

),

aligned as (

    select
        trial_id,
        batch,
        campaign,
        source_path,
        host,
        metric,
        label,
        moment,
        observed_at,
        t_s,
        value,
        unit
    from observations_of_trials
    union all
    select
        observed_files.trial_id,
        coalesce(observed_files.batch, observations_beside.batch) as batch,
        observations_beside.campaign,
        observations_beside.source_path,
        observations_beside.host,
        observations_beside.metric,
        observations_beside.label,
        observations_beside.moment,
        observations_beside.observed_at,
        {{ seconds_between('observed_files.started_at', 'observations_beside.observed_at') }} as t_s,
        observations_beside.value,
        observations_beside.unit
    from observations_beside
    left join observed_files
        on observations_beside.campaign = observed_files.campaign
            and observations_beside.source_path = observed_files.source_path
            and (
                observations_beside.observed_at is null
                or observations_beside.observed_at between observed_files.watched_from and observed_files.watched_until
            )

)

select * from aligned
