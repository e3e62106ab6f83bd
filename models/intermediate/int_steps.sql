with

trials as (

    select * from {{ ref('int_trials__measured') }}

),

steps as (

    select
        run_id,
        campaign,
        offered_rate,
        count(*) as trials,
        median(computed_rate) as achieved_rate,
        -- rounded, so that a loss that is the limit stays it where the median is a mean of two
        round(median(loss_worst_exchange), 12) as loss_worst_exchange,
        round(median(loss_packet), 12) as loss_packet,
        round(median(loss_lease), 12) as loss_lease,
        round(median(answered_ratio), 12) as answered_ratio,
        round(median(successful_ratio), 12) as successful_ratio,
        round(median(error_ratio), 12) as error_ratio,
        -- as a median: what most of the trials did, or half of them
        2 * count(*) filter (where is_generator_limited) >= count(*) as is_generator_limited,
        2 * count(*) filter (where is_pace_lost) >= count(*) as is_pace_lost,
        2 * count(*) filter (where is_unsustained) >= count(*) as is_unsustained
    from trials
    where completed and offered_rate is not null and duplicate_of is null
    group by run_id, campaign, offered_rate

)

select * from steps
