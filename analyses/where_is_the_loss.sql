-- Which exchange loses most at the first step above the limit: the first (sockets, queue) or the second (commit, HA)?
with

run_capacity as (

    select * from {{ ref('run_capacity') }}
    where loss_goal = usual_goal

),

trials as (

    select * from {{ ref('trials') }}

),

exchanges as (

    select * from {{ ref('trial_exchanges') }}

),

losses_at_the_crossing as (

    select
        run_capacity.configuration,
        run_capacity.campaign,
        exchanges.exchange,
        count(*) as trials,
        avg(exchanges.drops / nullif(exchanges.sent, 0)) as loss_ratio
    from run_capacity
    inner join trials
        on run_capacity.run_id = trials.run_id
            and run_capacity.first_exceeding_rate = trials.offered_rate
    inner join exchanges on trials.trial_id = exchanges.trial_id
    group by run_capacity.configuration_id, run_capacity.configuration, run_capacity.campaign, exchanges.exchange

)

select * from losses_at_the_crossing
order by configuration asc, campaign asc, loss_ratio desc
