"""One function over every group of rows, on DuckDB; tests/spark shows that Spark gives the same."""

import duckdb
import pyarrow as pa

from inference.groups import described

SCHEMA = pa.schema([("name", pa.string()), ("total", pa.int64())])


def total(group: pa.Table) -> pa.Table:
    [name] = set(group["name"].to_pylist())
    return pa.Table.from_pylist([{"name": name, "total": sum(group["number"].to_pylist())}], schema=SCHEMA)


def test_every_group_is_described_once_and_whole_however_its_rows_lie():
    with duckdb.connect() as connection:
        rows = connection.sql("from (values ('b', 1, 'x'), ('a', 2, 'x'), ('b', 4, 'x')) as rows(name, number, unused)")
        found = described(rows, ["name", "number"], total, SCHEMA)
    assert found.to_pylist() == [{"name": "a", "total": 2}, {"name": "b", "total": 5}]


def test_no_row_gives_no_group_and_still_the_columns():
    with duckdb.connect() as connection:
        rows = connection.sql("select '' as name, 1 as number where false")
        found = described(rows, ["name", "number"], total, SCHEMA)
    assert found.equals(SCHEMA.empty_table())
