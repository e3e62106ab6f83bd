"""What holds for every part that a reader of trials yields, whatever bytes it was given."""

import json

import pyarrow as pa
import pytest

from dropline.ingest import schema
from dropline.ingest.formats import Reject, Report

OBSERVATION = {"metric", "label", "t_s", "value", "unit"}


def accounted(reader, data: bytes) -> list[Report | Reject]:
    """Read `data` and check what every part promises."""
    parts = list(reader.parse(data))
    assert parts
    for part in parts:
        assert part.line >= 1
        if isinstance(part, Reject):
            assert part.reason
            assert part.hint
            continue
        assert isinstance(part.facts["completed"], bool)
        assert isinstance(json.loads(part.facts.get("details") or "{}", parse_constant=pytest.fail), dict)
        assert all(row.keys() == OBSERVATION for row in part.observations)
        assert all(warning.strip() for warning in part.warnings)
        pa.array(part.warnings, schema.TEXT)
        for rows, table in (
            ([part.facts], schema.TRIALS),
            (part.exchanges, schema.EXCHANGES),
            (part.intervals, schema.INTERVALS),
            (part.observations, schema.OBSERVATIONS),
        ):
            fields = pa.schema([table.field(name) for name in (rows[0] if rows else ())])
            assert pa.Table.from_pylist(rows, schema=fields).num_rows == len(rows)
    return parts
