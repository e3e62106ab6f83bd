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
    """Return the capacity of each run at any limit, like `queries.run_capacities` at a named goal.

    Args:
        warehouse: the warehouse.
        configuration_ids: the configurations.
        limit: loss ratio, 0..1, that may not be exceeded.
        basis: worst_exchange, packet or lease.
    """
    return warehouse.query(
        text("compare_run_capacities_at"),
        {"ids": list(configuration_ids), "limit": limit, "basis": basis, "most": MOST_ROWS},
    )


def capacities_at(warehouse: Warehouse, configuration_ids: Sequence[str], limit: float, basis: str) -> pa.Table:
    """Return the capacities of measured configurations at any limit, fastest first, like `queries.capacities`.

    Nothing is judged at such a limit: quality and findings are empty.

    Args:
        warehouse: the warehouse.
        configuration_ids: the configurations.
        limit: loss ratio, 0..1, that may not be exceeded.
        basis: worst_exchange, packet or lease.
    """
    return warehouse.query(
        text("compare_capacities_at"),
        {"ids": list(configuration_ids), "limit": limit, "basis": basis},
    )


def verdicts(warehouse: Warehouse, loss_goal: str, configuration_ids: Sequence[str]) -> pa.Table:
    """Return each pair of configurations, the first over the second: ratio, interval, p value, verdict, fairness.

    The function `compare` tests one pair. Here all pairs are looked at together, so that its p values are adjusted
    (Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979) before the verdict is given.

    Returns:
        configuration_id_a and _b in the order chosen, ratio (of the rates at the limit where both were estimated, else
        of the figures), ci_low, ci_high, p_value, p_value_holm, runs_a, runs_b, rate_a, rate_b, rate_unit and verdict.
    """
    return warehouse.query(
        text("compare_verdicts", pairs="compare_pairs"),
        {**USUAL_GOALS, "ids": list(configuration_ids), "loss_goal": loss_goal},
    )


def versions(warehouse: Warehouse, loss_goal: str | None = None) -> list[dict[str, Any]]:
    """Return the versions that the same set-ups were measured with: product, version, previous_version, set_ups.

    The pair of versions that was measured last comes first. Without a loss goal it is the usual one of each unit.
    """
    rows: list[dict[str, Any]] = warehouse.query(
        text("versions_known"), {**USUAL_GOALS, "loss_goal": loss_goal}
    ).to_pylist()
    return rows


def version_changes(warehouse: Warehouse, loss_goal: str | None, known: Mapping[str, Any]) -> pa.Table:
    """Return each set-up of a row of `versions`, its newer version over the other, with the columns of `verdicts`."""
    return warehouse.query(
        text("compare_verdicts", pairs="versions_pairs"),
        {
            **USUAL_GOALS,
            "loss_goal": loss_goal,
            **{name: known[name] for name in ("product", "version", "previous_version")},
        },
    )


def differences(warehouse: Warehouse, one: str, other: str) -> pa.Table:
    """Return what differs between two configurations: aspect, item, value_a, value_b, grade, why, is_factor, is_asked.

    What is asked stands first: the factors in which the two differ, and what goes with them; the rest by its gravity.
    """
    return warehouse.query(text("compare_differences"), {"one": one, "other": other})


def beginning(warehouse: Warehouse) -> dict[str, str]:
    """Return the pair that tells most: baseline_id, treatment_id and factor; empty where nothing was measured twice."""
    rows: list[dict[str, str]] = warehouse.query(text("compare_beginning"), USUAL_GOALS).to_pylist()
    return rows[0] if rows else {}
