"""Queries of the page Trends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dropline.app.queries import USUAL_GOALS
from dropline.app.queries.files import text

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def series(warehouse: Warehouse, loss_goal: str | None) -> pa.Table:
    """Return each series of runs within a loss goal, those with changes and many runs first.

    Without a goal use each unit's usual goal.

    Columns: series_id, label (series with its tool and, if they differ, method), runs, versions, changes, dips.
    """
    return warehouse.query(text("trends_series"), {**USUAL_GOALS, "loss_goal": loss_goal})


def points(warehouse: Warehouse, series_id: str) -> pa.Table:
    """Return the runs of a series in order of time, with all columns of `trends`."""
    return warehouse.query(text("trends_points"), {"series": series_id})


def series_of(warehouse: Warehouse, configuration_id: str, loss_goal: str | None) -> str | None:
    """Return the id of the series that contains a configuration's runs, or None if no run has a capacity."""
    found = warehouse.query(text("trends_series_of"), {**USUAL_GOALS, "id": configuration_id, "loss_goal": loss_goal})
    return str(found["series_id"][0]) if found.num_rows else None
