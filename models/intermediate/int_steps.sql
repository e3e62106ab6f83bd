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
        median(loss_worst_exchange) as loss_worst_exchange,
        median(loss_packet) as loss_packet,
        median(loss_lease) as loss_lease,
        bool_or(is_generator_limited) as is_generator_limited,
        bool_or(is_pace_lost) as is_pace_lost,
        bool_or(is_unsustained) as is_unsustained
    from trials
    where completed and offered_rate is not null and twin_of is null and {{ is_changed('campaign') }}
    group by run_id, campaign, offered_rate

)

select * from steps
