"""What strangers type to get out of the SQL page, and what people type to get answers from it.

The table runs in this process, on the very call that the page makes in a process of its own; what takes time or
memory without end runs in such a process, where the operating system's limits hold.
"""

import time
from pathlib import Path

import pytest

from dropline.app import sandbox, sql_console
from dropline.app.queries import sql
from dropline.app.sandbox import Refused, TooMuch
from dropline.app.warehouse import QueryRefused, Warehouse

HERE = Path(__file__).parent
_ESCAPES = HERE.joinpath("escapes.txt").read_text("utf-8").strip().split("\n")
ATTEMPTS = [line for line in _ESCAPES if not line.startswith("-- ")]
ANSWERED = HERE.joinpath("answered.txt").read_text("utf-8").splitlines()

# Where the limits of DuckDB do not reach, those of the operating system do.
ENDLESS = {
    "growing recursion": "with recursive n(x) as (select 'a' union all select x || x from n) select count(*) from n",
    "cross join": "select count(*) from range(1000000) a, range(1000000) b, range(1000000) c",
    "sorting": "select * from range(1000000000) order by random()",
    "one list": "select list(range) from range(1000000000)",
    "many long texts": "select repeat('x', 200000000) from range(20)",
    "one slow call": "select levenshtein(repeat('a', 1000000), repeat('b', 1000000))",
    "a list as long as it goes": "select len(range(2000000000)::varchar)",
    "grouping": "select range % 999999937, count(*) from range(1000000000) group by all",
}


@pytest.fixture(scope="module")
def asked(warehouse_home):
    warehouse = Warehouse.open(warehouse_home / "warehouse.duckdb", sql_console.LIMITS)
    yield warehouse
    warehouse.database.close()


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A working directory with files that an escape would read, and where it would write."""
    (tmp_path / "file.csv").write_text("a\n1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", ATTEMPTS)
def test_an_escape_is_refused_and_changes_nothing(asked, outside, text):
    with pytest.raises(QueryRefused) as refused:
        asked.ask(text, 10, 10_000)
    assert str(refused.value).strip()
    assert "root:" not in str(refused.value), "a line of /etc/passwd"
    assert str(asked.identity.path) not in str(refused.value)
    assert [each.name for each in outside.iterdir()] == ["file.csv"]
    own = asked.database.execute("select table_name from duckdb_tables() where database_name <> 'warehouse'").fetchall()
    assert own == []


@pytest.mark.parametrize("text", ANSWERED)
def test_a_question_is_answered(asked, text):
    assert asked.ask(text, 10_000, 10**8).rows.num_columns


@pytest.mark.parametrize("text", sql.examples().values(), ids=sql.examples())
def test_every_example_is_answered(asked, text):
    assert asked.ask(text, 100_000, 10**8).rows.num_columns


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_what_never_ends_is_ended(warehouse_home, text):
    began = time.monotonic()
    with pytest.raises((Refused, TooMuch), match=r"[Mm]emory|was ended|range|longer"):
        sql_console.ask(warehouse_home / "warehouse.duckdb", text, seconds=1.0)
    assert time.monotonic() - began < 5


def test_answers_without_end_are_cut_by_rows_and_by_bytes(warehouse_home):
    answer = sql_console.ask(warehouse_home / "warehouse.duckdb", "from range(1000000000000)")
    assert (answer.cut, answer.rows.num_rows) == (True, sql_console.MOST_ROWS)
    wide = "select repeat('x', 20000) as text from range(1000000)"
    answer = sql_console.ask(warehouse_home / "warehouse.duckdb", wide)
    assert answer.cut
    assert answer.rows.num_rows < sql_console.MOST_ROWS
    assert 0 < answer.rows.nbytes < sql_console.MOST_BYTES


def test_a_text_that_is_too_long_is_not_read(warehouse_home):
    with pytest.raises(Refused, match="at most 20,000"):
        sql_console.ask(warehouse_home / "warehouse.duckdb", "select 1" + " " * sql_console.MOST_CHARACTERS)


def test_who_waits_too_long_for_a_turn_is_told(warehouse_home, monkeypatch):
    monkeypatch.setattr(sandbox, "WAIT_S", 0.01)
    for _ in range(sandbox.AT_ONCE):
        assert sandbox._TURNS.acquire(timeout=5)
    try:
        with pytest.raises(TooMuch, match="try again"):
            sql_console.ask(warehouse_home / "warehouse.duckdb", "select 1")
    finally:
        for _ in range(sandbox.AT_ONCE):
            sandbox._TURNS.release()
    assert sql_console.ask(warehouse_home / "warehouse.duckdb", "select 1").rows.num_rows == 1
