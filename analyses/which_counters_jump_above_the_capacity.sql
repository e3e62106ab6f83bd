-- Which counters move over twice as much per query at the first step above the limit as at the last within it?
-- Levels (memory, latency) are among them; the ten that jump most are shown for each run.
with

run_capacity as (

    select * from {{ ref('run_capacity') }}
    where loss_goal = usual_goal

),

trials as (

    select * from {{ ref('trials') }}
    where sent > 0

),

counters as (

    select * from {{ ref('trial_counters') }}
    where change is not null

),

per_request as (

    select
        run_capacity.configuration,
        run_capacity.run_id,
        counters.metric,
        avg(counters.change / trials.sent) filter (
            where trials.offered_rate = run_capacity.last_passing_rate
        ) as change_below,
        avg(counters.change / trials.sent) filter (
            where trials.offered_rate = run_capacity.first_exceeding_rate
        ) as change_above
    from run_capacity
    inner join trials on run_capacity.run_id = trials.run_id
    inner join counters on trials.trial_id = counters.trial_id
    group by run_capacity.configuration, run_capacity.run_id, counters.metric

),

jumps as (

    select
        *,
        change_above - change_below as jump
    from per_request
    where change_above > 2 * change_below
    qualify row_number() over (partition by run_id order by jump desc) <= 10

)

select * from jumps
order by configuration asc, run_id asc, jump desc
