with

trials as (

    select * from {{ ref('int_trials__measured') }}

),

campaigns as (

    select * from {{ ref('stg_campaigns') }}

),

steps as (

    select
        trials.run_id,
        trials.campaign,
        trials.offered_rate,
        count(*) as trials,
        median(trials.computed_rate) as achieved_rate,
        {{ of_step('loss_worst_exchange') }} as loss_worst_exchange,
        {{ of_step('loss_packet') }} as loss_packet,
        {{ of_step('loss_lease') }} as loss_lease,
        {{ of_step('answered_ratio', 'min') }} as answered_ratio,
        {{ of_step('successful_ratio', 'min') }} as successful_ratio,
        {{ of_step('error_ratio') }} as error_ratio,
        2 * count(*) filter (where trials.is_generator_limited) >= count(*) as is_generator_limited,
        {{ is_of_step('is_pace_lost') }} as is_pace_lost,
        {{ is_of_step('is_unsustained') }} as is_unsustained
    from trials
    left join campaigns on trials.campaign = campaigns.campaign
    where trials.completed and trials.offered_rate is not null and trials.duplicate_of is null
    group by trials.run_id, trials.campaign, trials.offered_rate

)

select * from steps
