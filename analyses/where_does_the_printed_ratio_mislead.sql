-- Where is the answered share that the generator prints over half a percent off what the counters say?
with

accounting as (

    select * from {{ ref('packet_accounting') }}

),

trials as (

    select * from {{ ref('trials') }}

),

misleading as (

    select
        accounting.configuration,
        accounting.repetition,
        accounting.offered_rate,
        accounting.ratio_printed,
        accounting.ratio_true,
        accounting.ratio_printed - accounting.ratio_true as error_ratio,
        accounting.sent,
        accounting.received,
        accounting.answered,
        accounting.is_pace_lost,
        trials.source_path
    from accounting
    inner join trials on accounting.trial_id = trials.trial_id
    where abs(accounting.ratio_printed - accounting.ratio_true) > 0.005

)

select * from misleading
order by abs(error_ratio) desc, source_path
