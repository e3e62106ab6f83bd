"""The file that analysts open."""

from pathlib import Path

import pytest

MARTS = {path.stem for path in (Path(__file__).parents[2] / "models" / "marts").glob("*.sql")}
RATIOS = {"multithreading_speedup", "ha_speedup", "backend_ratio", "ip_version_ratio"}
VIEWS = {"leases_per_second", "goodput_beyond_capacity", "trial_counters", *RATIOS}


def test_it_holds_the_marts_the_loss_goals_what_the_functions_look_up_and_nothing_else(sql):
    tables = {name for (name,) in sql("select table_name from duckdb_tables()")}
    views = {name for (name,) in sql("select view_name from duckdb_views() where not internal")}
    assert views == VIEWS
    assert tables == (MARTS - views) | {"loss_goals", "build_info", "student_t", "interval_constants"}


def test_every_table_and_column_is_described_in_the_database(sql):
    assert sql("select table_name from duckdb_tables() where comment is null") == []
    assert sql("select view_name from duckdb_views() where comment is null and not internal") == []
    assert sql("select table_name, column_name from duckdb_columns() where comment is null and not internal") == []


@pytest.mark.parametrize("table", ["trial_counters", "trial_exchanges", "trial_intervals", "trial_observations"])
def test_what_belongs_to_a_trial_is_found_in_the_batch_of_the_trial(sql_of_examples, table):
    ((rows, found),) = sql_of_examples(
        f"select count(*), count(trials.trial_id) from {table} left join trials using (trial_id, batch) "
        f"where {table}.trial_id is not null"
    )
    assert rows == found > 0


def test_columns_have_types_that_every_client_can_fetch(sql):
    # Python fetches a time with a zone only with pytz beside it, and few tools know 128 bits.
    odd = "data_type like '%HUGEINT%' or data_type like '%WITH TIME ZONE%' or data_type like '%INTERVAL%'"
    assert sql(f"select table_name, column_name, data_type from duckdb_columns() where not internal and ({odd})") == []


def test_times_are_of_utc(sql):
    # the sidecar says 2026-11-20T13:03:19.757557Z
    began = sql(
        "select cast(started_at as varchar) from trials where source_path like '%v4_st_mysql_none/rep2/rate1100.txt'"
    )
    assert began == [("2026-11-20 13:03:19.757557",)]
    assert sql("select abs(epoch(built_at) - epoch(now())) < 86400 from build_info") == [(True,)]
