"""Queries of the page Run: metrics recorded beside a trial, and where its requests went.

Trial rows are sorted by batch, so that naming its batch finds a trial quickly among millions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dropline.app.queries import MOST_ROWS
from dropline.app.queries.files import text

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

MOST_SHARES: Final = 400  # points of a distribution


def watched(warehouse: Warehouse, trial_id: str, campaign: str) -> pa.Table:
    """Return the metrics recorded beside a trial over time: metric, series, unit, is_rate, t_s, value.

    Counters are metrics of a server or the kernel (with a dot in the name) that, over the whole campaign, fall in fewer
    than one of fifty steps, as after a restart. Their value is the growth per second since the previous reading, null
    if they fall. Other metrics keep their value. Omit metrics that never change. Merge neighbours if there are too many
    readings for a chart: the mean of rates, the maximum of others.
    """
    return warehouse.query(text("run_watched"), {"trial_id": trial_id, "campaign": campaign, "most": MOST_ROWS})


def accounting(warehouse: Warehouse, trial_id: str) -> dict[str, Any]:
    """Return the row of `packet_accounting` of a trial; empty if there are no counters beside it."""
    rows: list[dict[str, Any]] = warehouse.query(text("run_accounting"), {"trial_id": trial_id}).to_pylist()
    return rows[0] if rows else {}


def counters(warehouse: Warehouse, trial_id: str, batch: str) -> pa.Table:
    """Return the counters that changed during a trial, the largest change first.

    Counters with a snapshot before and after, and those that report their own change (udp.*, without both values):
    metric, label, host, unit, value_before, value_after, change.
    """
    return warehouse.query(text("run_counters"), {"trial_id": trial_id, "batch": batch})


def probe_times(warehouse: Warehouse, trial_id: str, batch: str) -> dict[str, Any]:
    """Return the number of answered probes beside a trial, and their times (ms): avg, p50, p95, p99, max."""
    found = warehouse.query(text("run_probe_times"), {"trial_id": trial_id, "batch": batch})
    return dict(found.to_pylist()[0])


def response_shares(warehouse: Warehouse, trial_id: str, batch: str) -> pa.Table:
    """Return the distribution of the response times of a trial, if more than its ends and mean is known.

    Columns: source, kind (`each`: every answer is known, from packet dumps or probes; `summary`: percentiles of the
    generator), time_ms, share_ratio (of answers within that time, by rank) and n (answers; null for a summary). Of
    many answers return every n-th, with the first and the last.
    """
    return warehouse.query(text("run_response_shares"), {"trial_id": trial_id, "batch": batch, "most": MOST_SHARES})


def configurations(warehouse: Warehouse) -> dict[str, bool]:
    """Return the configurations with runs, and whether any of the runs has a figure."""
    table = warehouse.query(text("run_configurations"))
    return dict(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))
