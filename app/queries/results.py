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

    None means the usual loss goal of each unit. Published figures without a limit are included for units other than
    those of DHCP.
    """
    return warehouse.query(text("results_capacities"), {**USUAL_GOALS, "loss_goal": loss_goal})


def pairs(warehouse: Warehouse) -> pa.Table:
    """Return what threads and HA bring: a row for each pair of configurations that differ in one of them alone."""
    return warehouse.query(text("results_pairs"))


def fresh_findings(warehouse: Warehouse) -> pa.Table:
    """Return what weakens figures in the campaigns of the newest batch: severity, finding, findings, campaigns."""
    return warehouse.query(text("results_fresh_findings"))


def freshness(warehouse: Warehouse) -> dict[str, Any]:
    """Return last_started_at (UTC; of the newest trial), last_batch and its campaigns; None and empty without any."""
    table = warehouse.query(text("results_freshness"))
    return dict(table.to_pylist()[0])
