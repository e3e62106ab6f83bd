-- What do a thousand leases cost in CPU time of server, database and generator, at the last step within the limit?
-- Where the generator takes more than the server, it is the generator that was measured.
with

run_capacity as (

    select * from {{ ref('run_capacity') }}
    where loss_goal = 'isc'

),

trials as (

    select * from {{ ref('trials') }}
    where completed_exchanges > 0

),

observations as (

    select * from {{ ref('trial_observations') }}
    where metric in ('server_cpu_s', 'db_cpu_s', 'perfdhcp_cpu_s')

),

cpu_of_trials as (

    select
        run_capacity.configuration_id,
        run_capacity.configuration,
        run_capacity.campaign,
        trials.trial_id,
        1000 / any_value(trials.completed_exchanges) as per_thousand,
        -- a pair has two servers
        sum(observations.value) filter (where observations.metric = 'server_cpu_s') as server_cpu_s,
        sum(observations.value) filter (where observations.metric = 'db_cpu_s') as db_cpu_s,
        sum(observations.value) filter (where observations.metric = 'perfdhcp_cpu_s') as generator_cpu_s
    from run_capacity
    inner join trials
        on run_capacity.run_id = trials.run_id
            and run_capacity.last_passing_rate = trials.offered_rate
    inner join observations on trials.trial_id = observations.trial_id
    group by run_capacity.configuration_id, run_capacity.configuration, run_capacity.campaign, trials.trial_id

),

cpu_per_thousand_leases as (

    select
        configuration,
        campaign,
        count(*) as trials,
        avg(server_cpu_s * per_thousand) as server_cpu_s,
        avg(db_cpu_s * per_thousand) as db_cpu_s,
        avg(generator_cpu_s * per_thousand) as generator_cpu_s
    from cpu_of_trials
    group by configuration_id, configuration, campaign

)

select * from cpu_per_thousand_leases
order by server_cpu_s + coalesce(db_cpu_s, 0), configuration
