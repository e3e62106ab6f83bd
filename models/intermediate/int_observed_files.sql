with

observations_beside as (

    select * from {{ ref('stg_observations') }}
    where trial_id is null

),

trials as (

    select * from {{ ref('stg_trials') }}

),

spans as (

    select
        trial_id,
        batch,
        campaign,
        source_path,
        stem,
        started_at,
        {{ end_of_trial() }} as ended_at
    from trials

),

watched_files as (

    select
        campaign,
        source_path,
        beside,
        regexp_extract(source_path, '^(.*/)?[^/]*$', 1) as folder,
        min(observed_at) as first_observed_at,
        max(observed_at) as last_observed_at
    from observations_beside
    group by campaign, source_path, beside

),

candidates as (

    -- counters beside an output are its own, from shortly before it to shortly after
    select
        watched_files.campaign,
        watched_files.source_path,
        spans.trial_id,
        spans.batch,
        spans.started_at,
        {{ later('spans.started_at', -30) }} as watched_from,
        {{ later('spans.ended_at', 30) }} as watched_until,
        1 as choice
    from watched_files
    inner join spans
        on watched_files.campaign = spans.campaign
            and watched_files.beside = spans.stem
            and (
                watched_files.first_observed_at is null
                or (
                    watched_files.first_observed_at <= {{ later('spans.ended_at', 30) }}
                    and watched_files.last_observed_at >= {{ later('spans.started_at', -30) }}
                )
            )
    union all
    -- others are of the trials that ran meanwhile: those in folders below, else all of the campaign
    select
        watched_files.campaign,
        watched_files.source_path,
        spans.trial_id,
        spans.batch,
        spans.started_at,
        spans.started_at as watched_from,
        spans.ended_at as watched_until,
        case
            when left(spans.source_path, length(watched_files.folder)) = watched_files.folder then 2
            else 3
        end as choice
    from watched_files
    inner join spans
        on watched_files.campaign = spans.campaign
            and watched_files.first_observed_at <= spans.ended_at
            and watched_files.last_observed_at >= spans.started_at

),

chosen as (

    select *
    from candidates
    qualify choice = min(choice) over (partition by campaign, source_path)

)

select
    campaign,
    source_path,
    trial_id,
    batch,
    started_at,
    watched_from,
    watched_until
from chosen
