"""The questions of the pages, one function each; every answer is an Arrow table with the columns of the marts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

MOST_ROWS: Final = 5000  # what a browser draws without pain


def totals(warehouse: Warehouse) -> dict[str, int]:
    """Count what the warehouse holds: configurations, measured, runs, trials, findings, campaigns."""
    return _row(
        warehouse.query("""
            select
                (select count(*) from configurations) as configurations,
                (select count(*) from configurations where origin = 'measured') as measured,
                (select count(distinct campaign) from configurations) as campaigns,
                (select count(*) from runs) as runs,
                (select count(*) from trials) as trials,
                (select count(*) from quality_findings where severity <> 'info') as findings
            """)
    )


def labels(warehouse: Warehouse) -> dict[str, str]:
    """Return a text for each configuration_id that no other has; measured first, then by text."""
    table = warehouse.query("""
        select
            configuration_id,
            concat(
                configuration, ' (', campaign, ')',
                case when count(*) over (partition by configuration, campaign) > 1
                    then ' #' || left(configuration_id, 6) end
            ) as label
        from configurations
        order by origin, label
        """)
    return dict(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def loss_goals(warehouse: Warehouse, rate_unit: str | None = None) -> list[dict[str, Any]]:
    """Return the loss goals (loss_goal, loss_limit, loss_basis, description), the usual one of the unit first."""
    return _rows(
        warehouse.query(
            "select * from loss_goals order by loss_goal <> $usual, loss_limit", {"usual": usual_goal(rate_unit)}
        )
    )


def usual_goal(rate_unit: str | None) -> str:
    """Return the loss goal at which rates of a unit are usually given: one in a thousand of DNS, else ISC's."""
    return "permille" if rate_unit == "queries/s" else "isc"


def capacities(warehouse: Warehouse, loss_goal: str, configuration_ids: Sequence[str] | None = None) -> pa.Table:
    """Return what the configurations sustain within a loss goal, fastest measured first.

    Beside the columns of `capacity`: `published_rate`, `published_version`, `published_campaign`, the latest published
    figure that is equal in product, protocol, backend, threading, HA mode and unit.
    """
    return warehouse.query(
        """
        with

        chosen as (

            select * from capacity
            where loss_goal = $loss_goal and ($all or list_contains($ids, configuration_id))

        ),

        published as (

            select capacity.*
            from capacity
            inner join campaigns on capacity.campaign = campaigns.campaign
            where capacity.origin = 'published' and loss_goal = $loss_goal
            qualify row_number() over (
                partition by product, protocol, backend, threading, ha_mode, rate_unit
                order by campaigns.started_on desc nulls last, product_version desc, rate desc
            ) = 1

        )

        select
            chosen.*,
            published.rate as published_rate,
            published.product_version as published_version,
            published.campaign as published_campaign
        from chosen
        left join published
            on chosen.origin = 'measured'
            and chosen.product is not distinct from published.product
            and chosen.protocol is not distinct from published.protocol
            and chosen.backend is not distinct from published.backend
            and chosen.threading is not distinct from published.threading
            and chosen.ha_mode is not distinct from published.ha_mode
            and chosen.rate_unit = published.rate_unit
        order by chosen.origin, chosen.rate desc nulls last, chosen.configuration_id
        """,
        _these(configuration_ids, loss_goal=loss_goal),
    )


def other_rates(warehouse: Warehouse) -> pa.Table:
    """Return the capacities that leases_per_second leaves out: other units, and figures without ISC's loss goal.

    They are at the usual loss goal of their unit, see `usual_goal`.
    """
    return warehouse.query("""
        select * from capacity
        where rate_unit <> 'leases/s'
            or configuration_id not in (select configuration_id from leases_per_second)
        qualify row_number() over (
            partition by configuration_id
            order by
                loss_goal <> case rate_unit when 'queries/s' then 'permille' else 'isc' end,
                loss_limit desc nulls last
        ) = 1
        order by rate_unit, rate desc nulls last, configuration_id
        """)


def throughputs(warehouse: Warehouse) -> pa.Table:
    """Return what came back from DNS servers under a load without a set rate, fastest first."""
    return warehouse.query("""
        select * from queries_per_second
        where seen_in = 'throughput'
        order by rate desc, configuration_id
        """)


def run_capacities(warehouse: Warehouse, loss_goal: str, configuration_ids: Sequence[str]) -> pa.Table:
    """Return the capacity of each run: configuration_id, run_id, repetition, rate, status; at most 5,000."""
    return warehouse.query(
        """
        select configuration_id, run_id, repetition, rate, rate_unit, status
        from run_capacity
        where loss_goal = $loss_goal and rate is not null and ($all or list_contains($ids, configuration_id))
        order by configuration_id, repetition, run_id
        limit $most
        """,
        _these(configuration_ids, loss_goal=loss_goal, most=MOST_ROWS),
    )


def loss_by_rate(
    warehouse: Warehouse, configuration_ids: Sequence[str], basis: str, *, run_id: str | None = None, each_run: bool
) -> pa.Table:
    """Return loss ratio (0..1) and achieved rate over the offered rate.

    One row per run and step, or per configuration and step (the median run, and lowest_loss_ratio and
    highest_loss_ratio of any); more rows than a chart can hold are never returned: above that the runs are always
    summed up.
    """
    return warehouse.query(
        """
        with

        steps as (

            select
                run_steps.*,
                runs.repetition,
                case $basis
                    when 'lease' then loss_lease when 'packet' then loss_packet else loss_worst_exchange
                end as loss_ratio
            from run_steps
            inner join runs on run_steps.run_id = runs.run_id
            where list_contains($ids, run_steps.configuration_id)
                and ($run_id is null or run_steps.run_id = $run_id)

        ),

        lines as (

            select
                *,
                case when $each_run and (select count(*) from steps) <= $most then run_id end as line_run_id
            from steps

        )

        select
            configuration_id,
            line_run_id as run_id,
            case when line_run_id is not null then any_value(repetition) end as repetition,
            offered_rate,
            median(achieved_rate) as achieved_rate,
            median(loss_ratio) as loss_ratio,
            min(loss_ratio) as lowest_loss_ratio,
            max(loss_ratio) as highest_loss_ratio,
            count(distinct lines.run_id) as runs,
            bool_or(is_generator_limited) as is_generator_limited
        from lines
        where loss_ratio is not null
        group by configuration_id, line_run_id, offered_rate
        order by configuration_id, line_run_id, offered_rate
        limit $most
        """,
        {
            "ids": list(configuration_ids),
            "basis": basis,
            "run_id": run_id,
            "each_run": each_run,
            "most": MOST_ROWS,
        },
    )


def factors(warehouse: Warehouse, configuration_ids: Sequence[str]) -> pa.Table:
    """Return what each configuration is: its own dimensions, its server's settings and its host's hardware."""
    return warehouse.query(
        """
        select
            configurations.configuration_id,
            configurations.origin, configurations.campaign, configurations.product, configurations.product_version,
            configurations.protocol, configurations.backend, configurations.backend_version,
            configurations.threading, configurations.threads, configurations.packet_queue_size,
            configurations.ha_mode, configurations.scenario, configurations.testbed,
            configurations.tool, configurations.tool_version, configurations.method, configurations.drop_time_s,
            server.subnets, server.pools, server.pool_addresses, server.reservations, server.client_classes,
            array_to_string(server.hooks, ', ') as hooks, server.valid_lifetime_s,
            host.cpu_model, host.cpu_cores, host.cpu_threads, host.cpu_mhz, host.memory_bytes, host.nic_model,
            host.nic_speed_mbps, host.disks, host.os_name, host.os_version, host.kernel, host.virtualisation
        from configurations
        left join (select distinct on (server_config_id) * from server_configurations) as server
            on configurations.server_config_id = server.server_config_id
        left join (select distinct on (host_id) * from hosts) as host
            on coalesce(configurations.host_id, configurations.testbed) = host.host_id
        where list_contains($ids, configurations.configuration_id)
        """,
        {"ids": list(configuration_ids)},
    )


def speedups(warehouse: Warehouse, configuration_ids: Sequence[str]) -> pa.Table:
    """Return the pairs of multithreading_speedup and ha_speedup in which one of the configurations stands.

    The ratio is that to which the interval belongs: of the rates at the limit, where both were estimated.
    """
    return warehouse.query(
        """
        select
            'threads: multi over single' as factor, protocol, backend, ha_mode, threads,
            coalesce(ratio_interpolated, speedup) as ratio,
            ci_low, ci_high, lps_single as lps_without, lps_multi as lps_with, runs_single as runs_without,
            runs_multi as runs_with, verdict, quality, origin, campaign
        from multithreading_speedup
        where list_contains($ids, configuration_id_single) or list_contains($ids, configuration_id_multi)
        union all
        select
            'HA: with over without' as factor, protocol, backend, ha_mode, threads,
            coalesce(ratio_interpolated, ratio) as ratio,
            ci_low, ci_high, lps_without_ha, lps_with_ha, runs_without_ha, runs_with_ha, verdict, quality, origin,
            campaign
        from ha_speedup
        where list_contains($ids, configuration_id_without_ha) or list_contains($ids, configuration_id_with_ha)
        order by factor desc, ratio desc
        """,
        {"ids": list(configuration_ids)},
    )


def are_in_turn(warehouse: Warehouse, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    """Say of pairs of configurations whether their runs alternate: else all of the one came before all of the other.

    Pairs of which one has fewer than two runs, or runs without a time, are left out.
    """
    found = warehouse.query(
        """
        with

        pairs as (

            select distinct unnest(cast($ones as varchar[])) as one, unnest(cast($others as varchar[])) as other

        ),

        spans as (

            select
                configuration_id,
                min(started_at) as first_started_at,
                max(started_at) as last_started_at
            from runs
            group by configuration_id
            having count(*) > 1 and count(started_at) = count(*)

        )

        select
            pairs.one,
            pairs.other,
            one.first_started_at <= other.last_started_at and other.first_started_at <= one.last_started_at
                as is_in_turn
        from pairs
        inner join spans as one on pairs.one = one.configuration_id
        inner join spans as other on pairs.other = other.configuration_id
        """,
        {"ones": [one for one, _ in pairs], "others": [other for _, other in pairs]},
    )
    return {(row["one"], row["other"]): row["is_in_turn"] for row in found.to_pylist()}


def runs(warehouse: Warehouse, configuration_id: str | None = None) -> pa.Table:
    """Return the runs of a configuration, or of all, by repetition and start."""
    return warehouse.query(
        """
        select * from runs
        where $id is null or configuration_id = $id
        order by configuration_id, repetition nulls last, started_at, run_id
        """,
        {"id": configuration_id},
    )


def run_verdict(warehouse: Warehouse, run_id: str, loss_goal: str) -> dict[str, Any]:
    """Return the row of `run_capacity` for a run and a loss goal; empty where no step has a loss ratio."""
    return _row(
        warehouse.query(
            "select * from run_capacity where run_id = $run_id and loss_goal = $loss_goal",
            {"run_id": run_id, "loss_goal": loss_goal},
        )
    )


def trials(warehouse: Warehouse, run_id: str) -> pa.Table:
    """Return the trials of a run by offered rate."""
    return warehouse.query(
        "select * from trials where run_id = $id order by offered_rate nulls last, started_at, source_path, trial_id",
        {"id": run_id},
    )


def exchanges(warehouse: Warehouse, trial_id: str, batch: str) -> pa.Table:
    """Return the exchanges of a trial, which its `batch` finds sooner, in the order of the protocol."""
    return warehouse.query(
        """
        select * exclude (trial_id, batch, position, drop_ratio_printed) from trial_exchanges
        where trial_id = $id and batch = $batch
        order by position
        """,
        {"id": trial_id, "batch": batch},
    )


def intervals(warehouse: Warehouse, trial_id: str, batch: str) -> pa.Table:
    """Return t_s, exchange, series (sent, received, drops) and packets per second of a trial.

    Where the interim lines are more than a chart can hold, neighbours are averaged.
    """
    return warehouse.query(
        """
        with

        lines as (

            select
                *,
                position // cast(ceil(3 * count(*) over () / $most) as bigint) as bucket,
                t_s - coalesce(lag(t_s) over (partition by exchange order by position), 0) as seconds
            from trial_intervals
            where trial_id = $id and batch = $batch and t_s is not null

        ),

        buckets as (

            select
                exchange,
                max(t_s) as t_s,
                sum(interval_sent) / nullif(sum(seconds), 0) as sent,
                sum(interval_received) / nullif(sum(seconds), 0) as received,
                sum(interval_drops) / nullif(sum(seconds), 0) as drops
            from lines
            group by exchange, bucket

        )

        unpivot buckets on sent, received, drops into name series value packets_per_s
        order by exchange, series, t_s
        """,
        {"id": trial_id, "batch": batch, "most": MOST_ROWS - 600},
    )


def findings(warehouse: Warehouse, configuration_id: str, run_id: str, trial_id: str | None) -> pa.Table:
    """Return the findings about a configuration, one of its runs, and one trial of it."""
    return warehouse.query(
        """
        select severity, finding, subject, detail, source_path from quality_findings
        where configuration_id = $configuration_id
            and (run_id is null or run_id = $run_id)
            and (trial_id is null or trial_id = $trial_id)
        order by severity <> 'suspect', severity <> 'warning', subject, finding
        """,
        {"configuration_id": configuration_id, "run_id": run_id, "trial_id": trial_id},
    )


def _these(configuration_ids: Sequence[str] | None, **others: Any) -> dict[str, Any]:
    names: Mapping[str, Any] = {"ids": [*(configuration_ids or ()), ""], "all": configuration_ids is None}
    return {**names, **others}


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", table.to_pylist())


def _row(table: pa.Table) -> dict[str, Any]:
    return next(iter(_rows(table)), {})
