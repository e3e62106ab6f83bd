"""One function over every group of a model's rows, on DuckDB or on Spark's executors."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Describe = Callable[[pa.Table], Mapping[str, Sequence[Any]]]


def described(relation: Any, columns: Sequence[str], describe: Describe, schema: pa.Schema) -> Any:
    """Describe every group of equal values in the first of `columns`.

    Args:
        relation: What `dbt.ref()` gives: a relation of DuckDB, or a DataFrame of Spark.
        columns: The columns that are needed. The first is the key of the groups; none of its values is null.
        describe: Takes the rows of one group in the order of the second column, and returns columns of `schema`, all of
            the same length; those that are not there are null.
        schema: Of all that is described; also when there is no group.

    Returns:
        What the engine takes as the rows of a model: an Arrow table for DuckDB, a DataFrame for Spark, where the groups
        are described by the executors, as many at once as there are cores.

    """
    needed, (key, place) = relation.select(*columns), columns[:2]
    if hasattr(needed, "groupBy"):
        from pyspark.sql.pandas.types import from_arrow_schema

        def described_alone(group: pa.Table) -> pa.Table:
            return _table([describe(group.sort_by(place))], schema)

        return needed.groupBy(key).applyInArrow(described_alone, schema=from_arrow_schema(schema))
    rows = needed.to_arrow_table().sort_by([(key, "ascending"), (place, "ascending")]).combine_chunks()
    return _table([describe(group) for group in _runs(rows, key)], schema)


def _table(described_groups: Sequence[Mapping[str, Sequence[Any]]], schema: pa.Schema) -> pa.Table:
    """Concatenate the columns of all groups: a table per group would take longer than the computation."""
    lengths = [len(next(iter(group.values()))) for group in described_groups]
    columns = {
        name: [
            value
            for group, length in zip(described_groups, lengths, strict=True)
            for value in group.get(name, (None,) * length)
        ]
        for name in schema.names
    }
    return pa.table(columns, schema=schema)


def _runs(rows: pa.Table, key: str) -> Iterator[pa.Table]:
    if rows.num_rows:
        ends = pc.run_end_encode(rows[key].combine_chunks()).run_ends.to_pylist()
        yield from (rows.slice(start, end - start) for start, end in pairwise([0, *ends]))
