"""Queries of the home page: capacities, ratios, and changes since the last version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dropline.app.queries import USUAL_GOALS
from dropline.app.queries.files import text

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def capacities(warehouse: Warehouse, loss_goal: str | None = None) -> pa.Table:
    """Return the capacity of each configuration, measured first and fastest first, with the CPUs of its machine.

    Without a loss goal use each unit's usual goal. Include published figures without a stated limit, except in units
    of DHCP.
    """
    return warehouse.query(text("results_capacities"), {**USUAL_GOALS, "loss_goal": loss_goal})


def pairs(warehouse: Warehouse) -> pa.Table:
    """Return the effect of threads and HA: one row per pair of configurations that differ in only one of them."""
    return warehouse.query(text("results_pairs"))


def fresh_findings(warehouse: Warehouse) -> pa.Table:
    """Return findings that weaken figures of the newest batch's campaigns: severity, finding, findings, campaigns."""
    return warehouse.query(text("results_fresh_findings"))


def freshness(warehouse: Warehouse) -> dict[str, Any]:
    """Return last_started_at (newest trial, UTC), last_batch and its campaigns; None or empty if there are none."""
    table = warehouse.query(text("results_freshness"))
    return dict(table.to_pylist()[0])
