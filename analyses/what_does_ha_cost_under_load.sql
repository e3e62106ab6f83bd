-- What does high availability cost: leases per second, and the wait for each answer at the last step within the limit?
with

ha_speedup as (

    select * from {{ ref('ha_speedup') }}
    where origin = 'measured'

),

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

waits as (

    select
        run_capacity.configuration_id,
        avg(exchanges.avg_delay_ms) filter (where exchanges.position = 0) as first_answer_ms,
        avg(exchanges.avg_delay_ms) filter (where exchanges.position = 1) as lease_answer_ms
    from run_capacity
    inner join trials
        on run_capacity.run_id = trials.run_id
            and run_capacity.last_passing_rate = trials.offered_rate
    inner join exchanges on trials.trial_id = exchanges.trial_id
    group by run_capacity.configuration_id

),

costs as (

    select
        ha_speedup.campaign,
        ha_speedup.protocol,
        ha_speedup.backend,
        ha_speedup.threading,
        ha_speedup.ha_mode,
        ha_speedup.lps_without_ha,
        ha_speedup.lps_with_ha,
        coalesce(ha_speedup.ratio_interpolated, ha_speedup.ratio) as ratio,
        ha_speedup.ci_low,
        ha_speedup.ci_high,
        ha_speedup.verdict,
        waits_without.first_answer_ms as first_answer_without_ha_ms,
        waits_with.first_answer_ms as first_answer_with_ha_ms,
        waits_without.lease_answer_ms as lease_answer_without_ha_ms,
        waits_with.lease_answer_ms as lease_answer_with_ha_ms
    from ha_speedup
    left join waits as waits_without on ha_speedup.configuration_id_without_ha = waits_without.configuration_id
    left join waits as waits_with on ha_speedup.configuration_id_with_ha = waits_with.configuration_id

)

select * from costs
order by protocol, backend, threading, ha_mode
