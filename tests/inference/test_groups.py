"""One function over every group of rows, on DuckDB; tests/spark shows that Spark gives the same."""

import duckdb
import pyarrow as pa

from dropline.inference.groups import described

SCHEMA = pa.schema([("name", pa.string()), ("numbers", pa.string()), ("unknown", pa.int64())])


def joined(group):
    [name] = set(group["name"].to_pylist())
    return {"name": [name], "numbers": [" ".join(map(str, group["number"].to_pylist()))]}


def test_every_group_is_described_once_whole_and_in_order_however_its_rows_lie():
    with duckdb.connect() as connection:
        rows = connection.sql("from (values ('b', 4, 'x'), ('a', 2, 'x'), ('b', 1, 'x')) as rows(name, number, unused)")
        found = described(rows, ["name", "number"], joined, SCHEMA)
    assert found.to_pylist() == [
        {"name": "a", "numbers": "2", "unknown": None},
        {"name": "b", "numbers": "1 4", "unknown": None},
    ]


def test_a_group_may_give_several_rows():
    with duckdb.connect() as connection:
        rows = connection.sql("from (values ('a', 1), ('a', 2), ('b', 3)) as rows(name, number)")
        found = described(rows, ["name", "number"], lambda group: {"unknown": group["number"].to_pylist()}, SCHEMA)
    assert found["unknown"].to_pylist() == [1, 2, 3]
    assert found["name"].null_count == 3


def test_no_row_gives_no_group_and_still_the_columns():
    with duckdb.connect() as connection:
        rows = connection.sql("select '' as name, 1 as number where false")
        found = described(rows, ["name", "number"], joined, SCHEMA)
    assert found.equals(SCHEMA.empty_table())


def test_groups_longer_than_a_batch_and_more_than_a_portion_are_described_once_each():
    with duckdb.connect() as connection:
        rows = connection.sql("""
            select lpad(cast(if(number < 260000, number // 130000, number) as text), 6, '0') as name, number
            from range(262000) as rows(number)
        """)
        found = described(rows, ["name", "number"], lambda group: {"unknown": [len(group)]}, SCHEMA)
    assert found["unknown"].to_pylist() == [130_000] * 2 + [1] * 2000
