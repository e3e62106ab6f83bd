-- Which answers came after the drop time: counted as received by perfdhcp, when a client would have asked again?
with

trials as (

    select * from {{ ref('trials') }}
    where max_delay_ms > 1000 * drop_time_s

),

exchanges as (

    select * from {{ ref('trial_exchanges') }}

),

late as (

    select
        trials.configuration,
        trials.repetition,
        trials.offered_rate,
        exchanges.exchange,
        trials.drop_time_s,
        exchanges.max_delay_ms,
        exchanges.avg_delay_ms,
        exchanges.orphans,
        trials.loss_worst_exchange,
        trials.source_path
    from trials
    inner join exchanges on trials.trial_id = exchanges.trial_id
    where exchanges.max_delay_ms > 1000 * trials.drop_time_s

)

select * from late
order by max_delay_ms desc, source_path asc
