with

intervals as (

    select * from {{ source('lake', 'intervals') }}

),

superseded as (

    select * from {{ ref('stg_superseded_trials') }}

),

current_versions as (

    select
        intervals.trial_id,
        intervals.batch,
        intervals.position,
        intervals.t_s,
        intervals.exchange,
        intervals.sent,
        intervals.received,
        intervals.drops,
        intervals.rejected,
        intervals.interval_sent,
        intervals.interval_received,
        intervals.interval_drops
    from intervals
    anti join superseded
        on intervals.trial_id = superseded.trial_id
            and intervals.batch = superseded.batch

)

select * from current_versions
