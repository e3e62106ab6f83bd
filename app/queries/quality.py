"""The questions of the page of quality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from dropline.app.queries import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def counts(warehouse: Warehouse) -> pa.Table:
    """Count the findings: severity, finding, subject, campaign, findings; the gravest and most frequent first."""
    return warehouse.query("""
        select severity, finding, subject, campaign, count(*) as findings
        from quality_findings
        group by severity, finding, subject, campaign
        order by severity <> 'suspect', severity <> 'warning', findings desc, finding, subject, campaign
        """)


def findings(
    warehouse: Warehouse,
    severities: Sequence[str] = (),
    findings: Sequence[str] = (),
    subjects: Sequence[str] = (),
    campaigns: Sequence[str] = (),
) -> pa.Table:
    """Return the findings that meet every filter, gravest first, at most 5,000; an empty filter lets all pass."""
    return warehouse.query(
        """
        select * from quality_findings
        where (len($severities) = 0 or list_contains($severities, severity))
            and (len($findings) = 0 or list_contains($findings, finding))
            and (len($subjects) = 0 or list_contains($subjects, subject))
            and (len($campaigns) = 0 or list_contains($campaigns, campaign))
        order by
            severity <> 'suspect', severity <> 'warning', finding, campaign, source_path nulls last, subject_id, detail
        limit $most
        """,
        {
            "severities": list(severities),
            "findings": list(findings),
            "subjects": list(subjects),
            "campaigns": list(campaigns),
            "most": MOST_ROWS,
        },
    )


def rejects(warehouse: Warehouse) -> pa.Table:
    """Return what was refused, the reason that concerns most files first.

    One row per reason and campaign: reject_id, detail (line, reason and what to do), campaign, files, source_paths.
    """
    return warehouse.query("""
        select
            md5(concat_ws('|', campaign, detail)) as reject_id,
            detail,
            campaign,
            count(*) as files,
            list(source_path order by source_path) as source_paths
        from quality_findings
        where finding = 'rejected'
        group by detail, campaign
        order by files desc, detail, campaign
        """)


def campaigns(warehouse: Warehouse) -> pa.Table:
    """Return the measured campaigns, that with the newest trial first."""
    return warehouse.query("""
        select campaign, title, configurations, runs, trials, files, rejected_files, last_started_at, last_batch
        from campaigns
        where origin = 'measured'
        order by last_started_at desc nulls last, campaign
        """)


def source_of(warehouse: Warehouse, figure_id: str) -> dict[str, Any]:
    """Return where a published figure stands: source_title, location, source_url."""
    return _row(
        warehouse.query(
            "select source_title, location, source_url from published_figures where figure_id = $figure_id",
            {"figure_id": figure_id},
        )
    )


def built(warehouse: Warehouse) -> dict[str, Any]:
    """Return when the warehouse was built (UTC) and from which batches: built_at, lake_batches."""
    return _row(warehouse.query("select built_at, lake_batches from build_info"))


def _row(table: pa.Table) -> dict[str, Any]:
    return cast("dict[str, Any]", table.to_pylist()[0])
