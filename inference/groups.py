"""One function over every group of a model's rows, on the engine that dbt runs: DuckDB here, Spark on its executors."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Describe = Callable[[pa.Table], pa.Table]


def described(relation: Any, columns: Sequence[str], describe: Describe, schema: pa.Schema) -> Any:
    """Describe every group of equal values in the first of `columns`.

    Args:
        relation: What `dbt.ref()` gives: a relation of DuckDB, or a DataFrame of Spark.
        columns: The columns that are needed. The first is the key of the groups; none of its values is null.
        describe: Takes the rows of one group, in no order, and returns rows of `schema`.
        schema: Of all that is described; also when there is no group.

    Returns:
        What the engine takes as the rows of a model: an Arrow table for DuckDB, a DataFrame for Spark, where the groups
        are described by the executors, as many at once as there are cores.

    """
    needed, key = relation.select(*columns), columns[0]
    if hasattr(needed, "groupBy"):
        from pyspark.sql.pandas.types import from_arrow_schema

        return needed.groupBy(key).applyInArrow(describe, schema=from_arrow_schema(schema))
    rows = needed.to_arrow_table().sort_by(key).combine_chunks()
    return pa.concat_tables([schema.empty_table(), *(describe(group) for group in _runs(rows, key))])


def _runs(rows: pa.Table, key: str) -> list[pa.Table]:
    if not rows.num_rows:
        return []
    ends = pc.run_end_encode(rows[key].combine_chunks()).run_ends.to_pylist()
    return [rows.slice(start, end - start) for start, end in pairwise([0, *ends])]
