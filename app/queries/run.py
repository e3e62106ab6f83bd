"""Queries of the page Run: telemetry of a trial, and where its requests went.

Rows of trials are stored in the order of their batches, so naming the batch finds a trial among millions.
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
    """Return the telemetry of a trial over its time: metric, series, unit, is_rate, t_s, value.

    A metric is a counter if a server or the kernel counts it (its name has a dot) or if it falls in fewer than one of
    fifty steps over the whole campaign, as after a restart. Its value is the growth per second since the previous
    reading, null where it falls. Everything else is returned as read; constants are left out. If there are more
    readings than a chart can hold, neighbours are merged: the mean of rates, the maximum of others.
    """
    return warehouse.query(
        text("run_watched"),
        {"id": trial_id, "campaign": campaign, "most": MOST_ROWS},
    )


def accounting(warehouse: Warehouse, trial_id: str) -> dict[str, Any]:
    """Return the row of `packet_accounting` of a trial; empty where nothing beside it was counted."""
    rows: list[dict[str, Any]] = warehouse.query(text("run_accounting"), {"id": trial_id}).to_pylist()
    return rows[0] if rows else {}


def counters(warehouse: Warehouse, trial_id: str, batch: str) -> pa.Table:
    """Return the counters that changed during a trial, the largest change first.

    Counters with a snapshot before and after, and those that report their change (udp.*, without both values): metric,
    label, host, unit, value_before, value_after, change.
    """
    return warehouse.query(
        text("run_counters"),
        {"id": trial_id, "batch": batch},
    )


def probe_times(warehouse: Warehouse, trial_id: str, batch: str) -> dict[str, Any]:
    """Return how many probes beside a trial were answered, and in what time (ms): avg, p50, p95, p99, max."""
    found = warehouse.query(text("run_probe_times"), {"id": trial_id, "batch": batch})
    return dict(found.to_pylist()[0])


def response_shares(warehouse: Warehouse, trial_id: str, batch: str) -> pa.Table:
    """Return the distribution of the response times of a trial, as far as more than its ends and mean is known.

    Columns: source, kind (`each`: every answer is known, from packets dumped or probes; `summary`: percentiles of the
    generator), time_ms, share_ratio (of answers that took at most so long, by rank) and n (answers; null for a
    summary). Of many answers every n-th is there, with the first and the last.
    """
    return warehouse.query(
        text("run_response_shares"),
        {"id": trial_id, "batch": batch, "most": MOST_SHARES},
    )


def configurations(warehouse: Warehouse) -> dict[str, bool]:
    """Return which configurations have runs, and whether any of these has a figure."""
    table = warehouse.query(text("run_configurations"))
    return dict(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))
