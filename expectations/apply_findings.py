"""Write findings about marts into quality_findings and onto the affected figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from dropline.expectations.suite import sql
from dropline.ingest.schema import TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from dropline.expectations.suite import Finding

_COLUMNS: Final = (
    *("finding", "severity", "campaign", "source_path", "trial_id", "configuration_id", "loss_goal", "detail"),
)
_SCHEMA: Final = pa.schema([(name, TEXT) for name in _COLUMNS])


def mark(connection: duckdb.DuckDBPyConnection, findings: Sequence[Finding]) -> None:
    """Write the findings of `check_marts` into the new warehouse, open for writing in `connection`: all or nothing."""
    if not findings:
        return
    columns = {name: [getattr(finding, name) for finding in findings] for name in _COLUMNS}
    with connection.cursor() as cursor:
        cursor.register("found", pa.table(columns, schema=_SCHEMA))
        cursor.begin()
        cursor.execute(sql("marks"))
        cursor.commit()
