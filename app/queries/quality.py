"""Queries of the page Quality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from dropline.app.queries import MOST_ROWS
from dropline.app.queries.files import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def counts(warehouse: Warehouse) -> pa.Table:
    """Count the findings: severity, finding, subject, campaign, findings; the gravest and most frequent first."""
    return warehouse.query(text("quality_counts"))


def findings(
    warehouse: Warehouse,
    severities: Sequence[str] = (),
    findings: Sequence[str] = (),
    subjects: Sequence[str] = (),
    campaigns: Sequence[str] = (),
) -> pa.Table:
    """Return the findings that match every filter, gravest first, at most 5,000; an empty filter matches all."""
    return warehouse.query(
        text("quality_findings"),
        {
            "severities": list(severities),
            "findings": list(findings),
            "subjects": list(subjects),
            "campaigns": list(campaigns),
            "most": MOST_ROWS,
        },
    )


def rejects(warehouse: Warehouse) -> pa.Table:
    """Return the rejects, the reason with most files first.

    One row per reason and campaign: reject_id, detail (line, reason and advice), campaign, files, source_paths.
    """
    return warehouse.query(text("quality_rejects"))


def campaigns(warehouse: Warehouse) -> pa.Table:
    """Return the measured campaigns, the one with the newest trial first."""
    return warehouse.query(text("quality_campaigns"))


def source_of(warehouse: Warehouse, figure_id: str) -> dict[str, Any]:
    """Return the source of a published figure: source_title, location, source_url."""
    return _row(warehouse.query(text("quality_source_of"), {"figure_id": figure_id}))


def built(warehouse: Warehouse) -> dict[str, Any]:
    """Return when the warehouse was built (UTC) and from which batches: built_at, lake_batches."""
    return _row(warehouse.query(text("quality_built")))


def _row(table: pa.Table) -> dict[str, Any]:
    return cast("dict[str, Any]", table.to_pylist()[0])
