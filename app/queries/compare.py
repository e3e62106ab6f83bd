"""Queries of the page Compare: capacities at any limit, verdicts on pairs, and differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dropline.app.queries import MOST_ROWS, USUAL_GOALS
from dropline.app.queries.files import text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def run_capacities_at(warehouse: Warehouse, configuration_ids: Sequence[str], limit: float, basis: str) -> pa.Table:
    """Return the capacity of each run at a custom limit, like `queries.run_capacities` at a named goal.

    Args:
        warehouse: the warehouse.
        configuration_ids: the configurations of the runs.
        limit: highest loss ratio allowed, 0..1.
        basis: worst_exchange, packet or lease.
    """
    return warehouse.query(
        text("compare_run_capacities_at"),
        {"ids": list(configuration_ids), "limit": limit, "basis": basis, "most": MOST_ROWS},
    )


def capacities_at(warehouse: Warehouse, configuration_ids: Sequence[str], limit: float, basis: str) -> pa.Table:
    """Return the capacities of measured configurations at a custom limit, fastest first, like `queries.capacities`.

    Quality and findings are empty: no checks run at custom limits.

    Args:
        warehouse: the warehouse.
        configuration_ids: the configurations.
        limit: highest loss ratio allowed, 0..1.
        basis: worst_exchange, packet or lease.
    """
    return warehouse.query(
        text("compare_capacities_at"), {"ids": list(configuration_ids), "limit": limit, "basis": basis}
    )


def verdicts(warehouse: Warehouse, loss_goal: str, configuration_ids: Sequence[str]) -> pa.Table:
    """Compare each pair of configurations, first to second: ratio, interval, p value and verdict.

    The SQL function `compare` tests a single pair. This one tests all pairs, so it corrects the p values for their
    number (Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979).

    Returns:
        configuration_id_a and _b in the order chosen, ratio (of the rates at the limit if both were estimated, else of
        the figures), ci_low, ci_high, p_value, p_value_holm, runs_a, runs_b, rate_a, rate_b, rate_unit and verdict.
    """
    return warehouse.query(
        text("compare_verdicts", pairs="compare_pairs"),
        {**USUAL_GOALS, "ids": list(configuration_ids), "loss_goal": loss_goal},
    )


def versions(warehouse: Warehouse, loss_goal: str | None = None) -> list[dict[str, Any]]:
    """Return pairs of versions that were measured with the same set-ups, the newest measurement first.

    Columns: product, version, previous_version, set_ups. Without a loss goal, use the usual goal of each unit.
    """
    rows: list[dict[str, Any]] = warehouse.query(
        text("versions_known"), {**USUAL_GOALS, "loss_goal": loss_goal}
    ).to_pylist()
    return rows


def version_changes(warehouse: Warehouse, loss_goal: str | None, known: Mapping[str, Any]) -> pa.Table:
    """Compare the newer with the older version for each set-up of a row of `versions`; columns as in `verdicts`."""
    return warehouse.query(
        text("compare_verdicts", pairs="versions_pairs"),
        {
            **USUAL_GOALS,
            "loss_goal": loss_goal,
            **{name: known[name] for name in ("product", "version", "previous_version")},
        },
    )


def differences(warehouse: Warehouse, one: str, other: str) -> pa.Table:
    """Return the differences of two configurations: aspect, item, value_a, value_b, grade, why, is_factor, is_asked.

    Rows with is_asked come first: the compared factors and what necessarily goes with them. Then the most serious.
    """
    return warehouse.query(text("compare_differences"), {"one": one, "other": other})


def beginning(warehouse: Warehouse) -> dict[str, str]:
    """Return the most informative pair: baseline_id, treatment_id and factor; empty if there is none."""
    rows: list[dict[str, str]] = warehouse.query(text("compare_beginning"), USUAL_GOALS).to_pylist()
    return rows[0] if rows else {}
