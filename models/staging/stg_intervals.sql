with

intervals as (

    select * from {{ source('lake', 'intervals') }}

),

trials as (

    select * from {{ ref('stg_current_trials') }}

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
    inner join trials
        on intervals.trial_id = trials.trial_id
            and intervals.batch = trials.batch

)

select * from current_versions
