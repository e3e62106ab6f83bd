-- Which exchange is the slowest at the last step within the limit: on average over the runs, and at worst?
with

run_capacity as (

    select * from {{ ref('run_capacity') }}
    where loss_goal = 'isc'

),

trials as (

    select * from {{ ref('trials') }}

),

exchanges as (

    select * from {{ ref('trial_exchanges') }}

),

delays_at_capacity as (

    select
        run_capacity.configuration_id,
        run_capacity.configuration,
        run_capacity.campaign,
        exchanges.exchange,
        count(*) as trials,
        avg(run_capacity.rate) as rate,
        avg(exchanges.avg_delay_ms) as avg_delay_ms,
        max(exchanges.max_delay_ms) as max_delay_ms
    from run_capacity
    inner join trials
        on run_capacity.run_id = trials.run_id
            and run_capacity.last_passing_rate = trials.offered_rate
    inner join exchanges on trials.trial_id = exchanges.trial_id
    group by run_capacity.configuration_id, run_capacity.configuration, run_capacity.campaign, exchanges.exchange

),

slowest as (

    select
        *,
        avg_delay_ms = max(avg_delay_ms) over (partition by configuration_id) as is_slowest
    from delays_at_capacity

)

select * from slowest
order by configuration asc, campaign asc, avg_delay_ms desc
