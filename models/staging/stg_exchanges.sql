with

exchanges as (

    select * from {{ source('lake', 'exchanges') }}

),

superseded as (

    select * from {{ ref('stg_superseded_trials') }}

),

current_versions as (

    select
        exchanges.trial_id,
        exchanges.batch,
        exchanges.exchange,
        exchanges.position,
        exchanges.sent,
        exchanges.received,
        exchanges.drops,
        exchanges.drop_ratio,
        exchanges.drop_ratio_printed,
        exchanges.orphans,
        exchanges.rejected,
        exchanges.non_unique,
        exchanges.collected,
        exchanges.min_delay_ms,
        exchanges.avg_delay_ms,
        exchanges.max_delay_ms,
        exchanges.stdev_delay_ms
    from exchanges
    anti join superseded
        on exchanges.trial_id = superseded.trial_id
            and exchanges.batch = superseded.batch

)

select * from current_versions
