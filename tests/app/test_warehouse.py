"""The one door to the DuckDB file: read-only, locked, current, and clear when it cannot open."""

from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

from dropline.app import query_log
from dropline.app.warehouse import Identity, QueryRefused, Warehouse, WarehouseError, WarehouseMissing


def publish(path, value):
    fresh = path.with_suffix(".next")
    with duckdb.connect(str(fresh)) as database:
        database.execute("create table figures as select $1 as value", [value])
        database.execute("create macro doubled() as table select 2 * value as value from figures")
    fresh.replace(path)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "it's here.duckdb"
    publish(path, 1)
    return path


def test_a_warehouse_that_is_missing_or_none_is_named_with_what_to_type(tmp_path):
    with pytest.raises(WarehouseMissing, match=r"nothing\.duckdb.*`dropline up examples`"):
        Warehouse.open(tmp_path / "nothing.duckdb")
    path = tmp_path / "warehouse.duckdb"
    path.write_bytes(b"not a database at all, but long enough to have a header" * 100)
    with pytest.raises(WarehouseError, match=r"warehouse\.duckdb cannot be opened"):
        Warehouse.open(path)


def test_queries_take_parameters_and_see_the_functions_of_the_file(path):
    warehouse = Warehouse.open(path)
    assert warehouse.query("select value + $more as value from doubled()", {"more": 5}).to_pylist() == [{"value": 7}]


def test_readers_of_an_old_publication_keep_it_while_new_ones_see_the_new(path):
    old = Warehouse.open(path)
    publish(path, 2)
    new = Warehouse.open(path)
    assert Identity.of(path) != old.identity
    assert [each.query("from figures").to_pylist() for each in (old, new)] == [[{"value": 1}], [{"value": 2}]]


def test_several_threads_ask_at_once(path):
    question = "select sum(range) as total from range(100000)"
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(Warehouse.open(path).query, [question] * 8)
    assert [answer["total"][0].as_py() for answer in answers] == [4999950000] * 8


@pytest.mark.parametrize(
    "sql",
    [
        "create table other as select 1",
        "create table memory.other as select 1",
        "delete from figures",
        "copy figures to 'stolen.csv'",
        "attach 'other.duckdb'",
        "set memory_limit = '100GB'",
        "pragma database_size",
        "install httpfs",
        "select 1; drop table figures",
        "",
        "-- only a comment",
        "selct 1",
        "select * from no_such_table",
        "select * from read_csv('/etc/passwd')",
        "select * from '/etc/passwd'",
        "select * from read_text('/etc/passwd')",
        "select * from glob('/*')",
        "select $missing",
    ],
)
def test_anything_but_one_select_over_the_warehouse_is_refused(path, sql, monkeypatch):
    monkeypatch.chdir(path.parent)
    warehouse = Warehouse.open(path)
    with pytest.raises(QueryRefused):
        warehouse.query(sql)
    assert warehouse.query("from figures").to_pylist() == [{"value": 1}]
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_every_way_to_read_is_answered(path):
    for sql in ("from figures", "with a as (select 1) select * from a", "describe figures", "show tables"):
        assert Warehouse.open(path).query(sql).num_rows == 1


def test_a_question_asked_again_is_answered_from_memory_and_noted_until_that_takes_too_much_room(path):
    forgetful = Warehouse.open(path)
    assert forgetful.query("select 1") is not forgetful.query("select 1"), "unless asked for"
    warehouse = Warehouse.open(path, remembered_bytes=1000)
    sql = "select value from figures where value = $value"
    first = warehouse.query(sql, {"value": 1})
    with query_log.recorded() as questions:
        assert warehouse.query(sql, {"value": 1}) is first
        assert warehouse.query(sql, {"value": 2}) is not first
        for _ in range(2):
            with pytest.raises(QueryRefused):  # neither kept nor noted
                warehouse.query("drop table figures")
    assert list(questions) == [f"select value from figures where value = {value}" for value in (1, 2)]
    warehouse.query("select * from range(1000)")
    assert warehouse.query(sql, {"value": 1}) is not first
