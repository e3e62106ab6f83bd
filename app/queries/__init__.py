"""Queries of the pages, one function each; results are Arrow tables with the columns of the marts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from dropline.app.queries.files import text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

USUAL_GOALS: Final[Mapping[str, Any]] = {
    "dhcp_units": ["leases/s", "exchanges/s"],
    "dhcp_goal": "isc",
    "other_goal": "permille",  # for DNS, as its operators ask for, and for load balancers
}
MOST_ROWS: Final = 5000  # that a browser draws smoothly


def totals(warehouse: Warehouse) -> dict[str, int]:
    """Count what the warehouse holds: configurations, measured, runs, trials, findings, campaigns."""
    return _row(warehouse.query(text("totals")))


def labels(warehouse: Warehouse) -> dict[str, str]:
    """Return a unique text for each configuration_id; measured first, then by text."""
    table = warehouse.query(text("labels"))
    return dict(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def loss_goals(warehouse: Warehouse, rate_units: Sequence[str | None] = ()) -> list[dict[str, Any]]:
    """Return the loss goals (loss_goal, loss_limit, loss_basis, description), the units' usual goal first."""
    return _rows(warehouse.query(text("loss_goals"), {"usual": usual_goal(*rate_units)}))


def usual_goal(*rate_units: str | None) -> str:
    """Return the usual loss goal for rates in these units: ISC's if DHCP is among them."""
    others = rate_units and None not in rate_units and not {*rate_units} & {*USUAL_GOALS["dhcp_units"]}
    return str(USUAL_GOALS["other_goal" if others else "dhcp_goal"])


def rate_units(warehouse: Warehouse, configuration_ids: Sequence[str]) -> list[str]:
    """Return the units of these configurations' rates."""
    found = warehouse.query(text("rate_units"), {"ids": list(configuration_ids)})
    return cast("list[str]", found["rate_unit"].to_pylist())


def capacities(warehouse: Warehouse, loss_goal: str, configuration_ids: Sequence[str] | None = None) -> pa.Table:
    """Return the capacities of the configurations within a loss goal, fastest measured first.

    Besides the columns of `capacity`: `published_rate`, `published_version`, `published_campaign` of the latest
    published figure with the same product, protocol, backend, threading, HA mode and unit.
    """
    return warehouse.query(text("capacities"), _these(configuration_ids, loss_goal=loss_goal))


def other_rates(warehouse: Warehouse) -> pa.Table:
    """Return the capacities that leases_per_second omits: other units, and figures without ISC's loss goal.

    Use the usual loss goal of their unit, see `usual_goal`.
    """
    return warehouse.query(text("other_rates"), USUAL_GOALS)


def throughputs(warehouse: Warehouse) -> pa.Table:
    """Return the throughput of DNS servers under a load without a set rate, fastest first."""
    return warehouse.query(text("throughputs"))


def run_capacities(warehouse: Warehouse, loss_goal: str, configuration_ids: Sequence[str]) -> pa.Table:
    """Return the capacity of each run: configuration_id, run_id, repetition, rate, status; at most 5,000."""
    return warehouse.query(text("run_capacities"), _these(configuration_ids, loss_goal=loss_goal, most=MOST_ROWS))


def loss_by_rate(
    warehouse: Warehouse, configuration_ids: Sequence[str], basis: str, *, run_id: str | None = None, each_run: bool
) -> pa.Table:
    """Return loss ratio (0..1) and achieved rate over the offered rate.

    One row per run and step, or per configuration and step (the median run, with lowest_loss_ratio and
    highest_loss_ratio of all runs), always the latter if single runs would be too many rows for a chart.
    """
    return warehouse.query(
        text("loss_by_rate"),
        {"ids": list(configuration_ids), "basis": basis, "run_id": run_id, "each_run": each_run, "most": MOST_ROWS},
    )


def factors(warehouse: Warehouse, configuration_ids: Sequence[str]) -> pa.Table:
    """Return the factors of each configuration: its own dimensions, its server's settings and its host's hardware."""
    return warehouse.query(text("factors"), {"ids": list(configuration_ids)})


def are_in_turn(warehouse: Warehouse, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    """Return for each pair of configurations whether their runs alternated, instead of running one after the other.

    Pairs are missing if one side has fewer than two runs, or a run without a start time.
    """
    found = warehouse.query(
        text("are_in_turn"), {"ones": [one for one, _ in pairs], "others": [other for _, other in pairs]}
    )
    return {(row["one"], row["other"]): row["is_in_turn"] for row in found.to_pylist()}


def runs(warehouse: Warehouse, configuration_id: str | None = None) -> pa.Table:
    """Return the runs of a configuration, or of all, by repetition and start."""
    return warehouse.query(text("runs"), {"id": configuration_id})


def run_verdict(warehouse: Warehouse, run_id: str, loss_goal: str) -> dict[str, Any]:
    """Return the row of `run_capacity` for a run and a loss goal; empty if no step has a loss ratio."""
    return _row(warehouse.query(text("run_verdict"), {"run_id": run_id, "loss_goal": loss_goal}))


def trials(warehouse: Warehouse, run_id: str) -> pa.Table:
    """Return the trials of a run by offered rate."""
    return warehouse.query(text("trials"), {"id": run_id})


def exchanges(warehouse: Warehouse, trial_id: str, batch: str) -> pa.Table:
    """Return the exchanges of a trial in the order of the protocol; `batch` speeds up the search."""
    return warehouse.query(text("exchanges"), {"id": trial_id, "batch": batch})


def intervals(warehouse: Warehouse, trial_id: str, batch: str) -> pa.Table:
    """Return t_s, exchange, series (sent, received, drops) and packets per second of a trial.

    Average neighbouring interim lines if there are too many for a chart.
    """
    return warehouse.query(text("intervals"), {"id": trial_id, "batch": batch, "most": MOST_ROWS - 600})


def findings(warehouse: Warehouse, configuration_id: str, run_id: str, trial_id: str | None) -> pa.Table:
    """Return the findings about a configuration, one of its runs, and one trial of it."""
    return warehouse.query(
        text("findings"), {"configuration_id": configuration_id, "run_id": run_id, "trial_id": trial_id}
    )


def _these(configuration_ids: Sequence[str] | None, **others: Any) -> dict[str, Any]:
    names: Mapping[str, Any] = {"ids": [*(configuration_ids or ()), ""], "all": configuration_ids is None}
    return {**names, **others}


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", table.to_pylist())


def _row(table: pa.Table) -> dict[str, Any]:
    return next(iter(_rows(table)), {})
