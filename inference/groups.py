"""Application of a function to every group of a model's rows, on DuckDB or on Spark's executors."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

Describe = Callable[[pa.Table], Mapping[str, Sequence[Any]]]

_BATCH_ROWS: Final = 100_000
_PORTION_GROUPS: Final = 500  # held as Python values at once, which take ten times the memory of Arrow's


def described(relation: Any, columns: Sequence[str], describe: Describe, schema: pa.Schema) -> Any:
    """Apply `describe` to every group of equal values in the first of `columns`, which has no nulls.

    `relation` is the result of `dbt.ref()`. `describe` takes the rows of one group, sorted by the second column, and
    returns columns of `schema`, all of the same length; missing ones are null. The result is the model's rows: an Arrow
    table for DuckDB; for Spark a DataFrame, whose groups the executors describe in parallel.
    """
    needed, (key, place) = relation.select(*columns), columns[:2]
    if hasattr(needed, "groupBy"):
        from pyspark.sql.pandas.types import from_arrow_schema

        def described_alone(group: pa.Table) -> pa.Table:
            return _table([describe(group.sort_by(place))], schema)

        return needed.groupBy(key).applyInArrow(described_alone, schema=from_arrow_schema(schema))
    batches = needed.order(f"{key}, {place}").to_arrow_reader(_BATCH_ROWS)
    tables = (pa.Table.from_batches([batch]) for batch in batches)
    described_groups = (describe(group) for group in _groups(tables, key))
    portions = iter(lambda: list(islice(described_groups, _PORTION_GROUPS)), [])
    return pa.concat_tables([schema.empty_table(), *(_table(portion, schema) for portion in portions)])


def _groups(tables: Iterable[pa.Table], key: str) -> Iterator[pa.Table]:
    """Yield the rows of each group, from tables sorted by group; a group may continue in the next table."""
    rest = None
    for table in tables:
        rows = table if rest is None else pa.concat_tables([rest, table])
        ends = pc.run_end_encode(rows[key].combine_chunks()).run_ends.to_pylist()
        places = [0, *ends[:-1]]
        yield from (rows.slice(start, end - start) for start, end in pairwise(places))
        rest = rows.slice(places[-1])
    if rest is not None:
        yield rest


def _table(described_groups: Sequence[Mapping[str, Sequence[Any]]], schema: pa.Schema) -> pa.Table:
    """Return one table for several groups, as a table per group would take longer than the computation."""
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
