"""The questions of the page of one run: what was watched beside a trial, and where its requests went.

The rows of trials stand in the order of their batches, so that a trial is found among millions by naming its own.
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
    """Return what was read beside a trial over its time: metric, series, unit, is_rate, t_s, value.

    What a server or the kernel counts (its name has a dot) and what in the whole campaign falls in fewer than one of
    fifty steps, as after a restart, is a counter: its value is the growth per second since the reading before, and
    nothing where it falls. Everything else is shown as it was read. What never changes stays out. Where there are
    more readings than a chart can hold, neighbours are put together: the mean of rates, the largest of others.
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

    Counters of which a snapshot was taken before and after, and those that tell their change themselves (udp.*,
    without both values): metric, label, host, unit, value_before, value_after, change.
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
