"""The questions of the overview beside the figures: what changed, what is new, and how fresh is it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dropline.app.queries import USUAL_GOALS
from dropline.app.queries.files import text

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def version_changes(warehouse: Warehouse, loss_goal: str | None = None) -> pa.Table:
    """Return each series in which two versions were run: its latest version beside the one before it.

    Without a loss goal it is the usual one of each unit.

    The level of a version is that of its last run in `trends`; in a series of less than four runs with a bracket,
    which has none (inference.changes), it is the median of the version's runs. It changed where a change point lies
    after the last run of the version before; without one the two levels are the same, whatever single runs say.

    Returns:
        One row per series, changed ones first: series_id, series, rate_unit, version, previous_version, level,
        previous_level (per second), runs and previous_runs of the two, started_at of the latest run, and verdict
        (faster, slower, no evidence, too few runs).
    """
    return warehouse.query(
        text("overview_version_changes"),
        {**USUAL_GOALS, "loss_goal": loss_goal},
    )


def most_measured(warehouse: Warehouse) -> str | None:
    """Return the unit in which most configurations have a measured capacity; None without any."""
    table = warehouse.query(text("overview_most_measured"))
    return str(table["rate_unit"][0]) if table.num_rows else None


def fresh_findings(warehouse: Warehouse) -> pa.Table:
    """Return what weakens figures in the campaigns of the newest batch: severity, finding, findings, campaigns."""
    return warehouse.query(text("overview_fresh_findings"))


def freshness(warehouse: Warehouse) -> dict[str, Any]:
    """Return last_started_at (UTC; of the newest trial), last_batch and its campaigns; None and empty without any."""
    table = warehouse.query(text("overview_freshness"))
    return dict(table.to_pylist()[0])
