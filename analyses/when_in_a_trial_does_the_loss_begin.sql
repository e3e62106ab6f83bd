-- When in a trial does the loss begin: in its first second (sockets) or later (a queue that fills, a pause)?
-- Some packets are only on their way when a second ends; so a second counts when it is above the limit itself.
with

run_capacity as (

    select * from {{ ref('run_capacity') }}
    where loss_goal = usual_goal

),

trials as (

    select * from {{ ref('trials') }}

),

intervals as (

    select * from {{ ref('trial_intervals') }}

),

beginnings as (

    select
        run_capacity.configuration,
        run_capacity.campaign,
        trials.repetition,
        trials.offered_rate,
        intervals.exchange,
        min(intervals.t_s) filter (
            where intervals.interval_drops > run_capacity.loss_limit * intervals.interval_sent
        ) as loss_begins_s,
        max(intervals.t_s) as watched_s,
        max(intervals.interval_drops / nullif(intervals.interval_sent, 0)) as worst_loss_ratio
    from run_capacity
    inner join trials
        on run_capacity.run_id = trials.run_id
            and run_capacity.first_exceeding_rate = trials.offered_rate
    inner join intervals on trials.trial_id = intervals.trial_id
    group by
        run_capacity.run_id, run_capacity.configuration, run_capacity.campaign, trials.repetition, trials.offered_rate,
        intervals.exchange

)

select * from beginnings
order by configuration, campaign, repetition, exchange
