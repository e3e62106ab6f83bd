-- The cost of a renewal relative to a new lease, from pairs of ramps that differ only in renewals. A server that grants
-- C new leases per second, or c with f renewals per second (perfdhcp -f), spends (C - c) / f of a new lease on each.
with

renewing_runs as (

    select
        run_capacity.configuration_id,
        sum(trial_exchanges.received) / sum(trials.test_period_s) as renewals_per_s
    from run_capacity
    inner join trials
        on run_capacity.run_id = trials.run_id and run_capacity.last_passing_rate = trials.offered_rate
    inner join trial_exchanges on trials.trial_id = trial_exchanges.trial_id
    where run_capacity.loss_goal = 'isc'
        and trial_exchanges.exchange in ('REQUEST-ACK (renewal)', 'RENEW-REPLY')
    group by run_capacity.configuration_id, run_capacity.run_id

),

renewing as (

    select
        configuration_id,
        median(renewals_per_s) as renewals_per_s
    from renewing_runs
    group by configuration_id

),

capacities as (

    select
        leases_per_second.*,
        renewing.renewals_per_s
    from leases_per_second
    left join renewing on leases_per_second.configuration_id = renewing.configuration_id
    where leases_per_second.status = 'bracketed' and leases_per_second.protocol = $protocol

)

select
    (plain.lps - beside.lps) / beside.renewals_per_s as ratio,
    beside.renewals_per_s,
    beside.product,
    beside.product_version,
    beside.backend,
    beside.threading,
    beside.threads,
    beside.ha_mode,
    beside.campaign
from capacities as beside
inner join capacities as plain
    on beside.campaign = plain.campaign
        and beside.product is not distinct from plain.product
        and beside.product_version is not distinct from plain.product_version
        and beside.backend is not distinct from plain.backend
        and beside.threading is not distinct from plain.threading
        and beside.threads is not distinct from plain.threads
        and beside.ha_mode is not distinct from plain.ha_mode
        and beside.testbed is not distinct from plain.testbed
where beside.renewals_per_s > 0
    and plain.renewals_per_s is null
    and plain.lps > beside.lps
order by beside.renewals_per_s desc, beside.configuration_id asc, plain.configuration_id asc
limit 60
