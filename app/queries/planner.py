"""The questions of the page of the needed leases per second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

MOST_RATIOS: Final = 60


def configurations(warehouse: Warehouse, needed_lps: float, protocol: str) -> pa.Table:
    """Return the capacities of a protocol beside the need, most head-room first; whoever has no figure comes last.

    Beside the columns of `capacity`: lps, headroom_ratio, missing_lps (0 where the need is met) and meeting_probability
    (0..1, null without repeated runs) as `configurations_meeting` gives them.
    """
    return warehouse.query(
        """
        select
            capacity.*,
            met.headroom_ratio,
            met.missing_lps,
            met.meeting_probability,
            met.lps
        from configurations_meeting($needed, also_missing := true) as met
        inner join capacity on met.configuration_id = capacity.configuration_id
        where capacity.rate_unit = 'leases/s'
            and capacity.loss_goal = 'isc'
            and coalesce(capacity.protocol, $protocol) = $protocol
        order by met.headroom_ratio desc nulls last, met.configuration_id
        """,
        {"needed": needed_lps, "protocol": protocol},
    )


def ha_ratios(warehouse: Warehouse, protocol: str) -> pa.Table:
    """Return what high availability leaves of the leases per second, measured ones with most runs first.

    At most 60 rows: ratio, ci_low, ci_high, runs_without_ha, runs_with_ha, verdict, product, product_version,
    backend, threading, threads, ha_mode, origin, campaign.
    """
    return warehouse.query(
        """
        select
            ratio, ci_low, ci_high, runs_without_ha, runs_with_ha, verdict, product, product_version, backend,
            threading, threads, ha_mode, origin, campaign
        from ha_speedup
        where protocol = $protocol and ratio is not null
        order by
            origin, least(runs_without_ha, runs_with_ha) desc nulls last, backend, ha_mode, threading, campaign
        limit $most
        """,
        {"protocol": protocol, "most": MOST_RATIOS},
    )


def goodputs(warehouse: Warehouse, protocol: str) -> pa.Table:
    """Return what set-ups answered when more was asked than they can do, fastest first.

    Columns: configuration_id, configuration, campaign, lps, and goodput: a list of asked_ratio and answered_ratio, both
    over the capacity at the goal `isc`, median over the runs, for the first step beyond it, the second, ...
    """
    return warehouse.query(
        """
        with

        beyond as (

            select
                run_capacity.configuration_id,
                run_steps.offered_rate / run_capacity.rate as asked_ratio,
                run_steps.achieved_rate / run_capacity.rate as answered_ratio,
                row_number() over (partition by run_steps.run_id order by run_steps.offered_rate) as step
            from run_capacity
            inner join run_steps on run_capacity.run_id = run_steps.run_id
            where run_capacity.loss_goal = 'isc'
                and run_capacity.rate > 0
                and run_steps.offered_rate > run_capacity.last_passing_rate
                and not coalesce(run_steps.is_generator_limited, false)

        ),

        steps as (

            select
                configuration_id,
                {'asked_ratio': median(asked_ratio), 'answered_ratio': median(answered_ratio)} as point
            from beyond
            group by configuration_id, step

        )

        select
            leases_per_second.configuration_id,
            leases_per_second.configuration,
            leases_per_second.campaign,
            leases_per_second.lps,
            list(steps.point order by steps.point.asked_ratio) as goodput
        from steps
        inner join leases_per_second on steps.configuration_id = leases_per_second.configuration_id
        where leases_per_second.protocol = $protocol and leases_per_second.lps > 0
        group by all
        order by leases_per_second.lps desc, leases_per_second.configuration_id
        """,
        {"protocol": protocol},
    )


def renewal_costs(warehouse: Warehouse, protocol: str) -> pa.Table:
    """Return what a renewal costs over a new lease, from ramps with renewals beside others that differ in nothing else.

    A server that gives C new leases per second, or c beside f renewals (perfdhcp -f), spends (C - c) / f of a new lease
    on each. Columns: ratio, lps_without, lps_with, renewals_per_s, product, product_version, backend, threading,
    threads, ha_mode, campaign; most renewals first, at most 60 rows.
    """
    return warehouse.query(
        """
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

            select configuration_id, median(renewals_per_s) as renewals_per_s
            from renewing_runs
            group by configuration_id

        ),

        capacities as (

            select leases_per_second.*, renewing.renewals_per_s
            from leases_per_second
            left join renewing on leases_per_second.configuration_id = renewing.configuration_id
            where leases_per_second.status = 'bracketed' and leases_per_second.protocol = $protocol

        )

        select
            (plain.lps - beside.lps) / beside.renewals_per_s as ratio,
            plain.lps as lps_without,
            beside.lps as lps_with,
            beside.renewals_per_s,
            beside.product, beside.product_version, beside.backend, beside.threading, beside.threads, beside.ha_mode,
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
        order by beside.renewals_per_s desc, beside.configuration_id, plain.configuration_id
        limit $most
        """,
        {"protocol": protocol, "most": MOST_RATIOS},
    )
