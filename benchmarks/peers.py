"""The same queries on DuckDB and PostgreSQL, over the same tables of a warehouse.

PostgreSQL is started in a temporary folder, on a Unix socket only. It gets the full tables except nested columns, for
which it has no types, and the indexes that point queries need.
"""

from __future__ import annotations

import getpass
import io
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow.csv as pa_csv

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import psycopg

    from dropline.app.warehouse import Warehouse

    Params = Mapping[str, Any]

BIN: Final = Path("/usr/lib/postgresql/15/bin")  # Debian's; else the PATH is searched
USER: Final = "postgres"
SETTINGS: Final = {
    "listen_addresses": "",
    "shared_buffers": "1GB",
    "work_mem": "64MB",
    "maintenance_work_mem": "512MB",
    "effective_cache_size": "2GB",
    "random_page_cost": "1.1",  # the tables are in memory
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "8GB",
    "timezone": "UTC",
}
TYPES: Final = {
    "VARCHAR": "text",
    "BIGINT": "bigint",
    "INTEGER": "integer",
    "DOUBLE": "double precision",
    "BOOLEAN": "boolean",
    "TIMESTAMP": "timestamp",
}
# Of all tables that the questions name.
INDEXES: Final = {
    "trials": ("trial_id", "run_id", "configuration_id", "campaign"),
    "trial_intervals": ("trial_id",),
    "run_steps": ("configuration_id",),
    "runs": ("run_id", "configuration_id"),
    "capacity": ("loss_goal, rate", "configuration_id"),
    "configurations": ("configuration_id",),
    "quality_findings": ("configuration_id", "finding"),
}
COPIED_ROWS: Final = 100_000


class Question(NamedTuple):
    """One question for both engines.

    Attributes:
        name: for people.
        sql: in the dialect common to both; `$name` is a parameter.
        is_aggregate: whether it aggregates all rows of a table, the main use of a warehouse.

    """

    name: str
    sql: str
    is_aggregate: bool


QUESTIONS: Final = (
    Question(
        "rates and losses by protocol and backend",
        "select protocol, backend, count(*) as trials, avg(achieved_rate) as rate, "
        "percentile_cont(0.95) within group (order by loss_worst_exchange) as loss "
        "from trials where completed group by protocol, backend",
        is_aggregate=True,
    ),
    Question(
        "totals of every campaign",
        "select campaign, count(*) as trials, sum(sent) as sent, sum(received) as received, "
        "max(achieved_rate) as rate, count(distinct run_id) as runs from trials group by campaign",
        is_aggregate=True,
    ),
    Question(
        "loss over the load",
        "select protocol, floor(offered_rate / 1000) as thousand, count(*) as trials, avg(loss_lease) as loss "
        "from trials group by protocol, floor(offered_rate / 1000)",
        is_aggregate=True,
    ),
    Question(
        "months and tools",
        "select left(cast(started_at as varchar), 7) as month, tool, count(*) as trials, "
        "avg(achieved_rate) as rate from trials group by left(cast(started_at as varchar), 7), tool",
        is_aggregate=True,
    ),
    Question(
        "drops of all intervals",
        "select exchange, count(*) as lines, sum(interval_drops) as drops, max(interval_received) as most "
        "from trial_intervals group by exchange",
        is_aggregate=True,
    ),
    Question(
        "findings by campaign",
        "select severity, finding, campaign, count(*) as findings from quality_findings "
        "group by severity, finding, campaign",
        is_aggregate=True,
    ),
    Question(
        "a word in all findings",
        "select finding, count(*) as findings from quality_findings where lower(detail) like '%' || $word || '%' "
        "group by finding",
        is_aggregate=True,
    ),
    Question(
        "the fastest 500 configurations",
        "select capacity.configuration_id, configurations.configuration, configurations.method, capacity.rate, "
        "capacity.ci_low, capacity.ci_high, capacity.status from capacity "
        "inner join configurations on capacity.configuration_id = configurations.configuration_id "
        "where capacity.loss_goal = $loss_goal and capacity.origin = 'measured' "
        "order by capacity.rate desc nulls last, capacity.configuration_id limit 500",
        is_aggregate=False,
    ),
    Question(
        "the curves of a configuration",
        "select run_steps.run_id, runs.repetition, run_steps.offered_rate, run_steps.achieved_rate, "
        "run_steps.loss_worst_exchange from run_steps inner join runs on run_steps.run_id = runs.run_id "
        "where run_steps.configuration_id = $configuration_id",
        is_aggregate=False,
    ),
    Question(
        "the seconds of a trial",
        "select exchange, t_s, interval_sent, interval_received, interval_drops from trial_intervals "
        "where trial_id = $trial_id",
        is_aggregate=False,
    ),
    Question(
        "the trials of a run",
        "select trial_id, offered_rate, achieved_rate, sent, received, loss_worst_exchange from trials "
        "where run_id = $run_id",
        is_aggregate=False,
    ),
)


def has_postgres() -> bool:
    """Return whether PostgreSQL is installed."""
    return _program("initdb") is not None


@contextmanager
def postgres(warehouse: Warehouse, folder: Path | None = None) -> Iterator[psycopg.Connection[Any]]:
    """Start a PostgreSQL below `folder`, load the queried tables, and connect.

    It refuses to run as root; then it runs as its package's account `postgres`.

    Raises:
        subprocess.CalledProcessError: it did not start.
    """
    import psycopg

    as_user = USER if os.geteuid() == 0 else getpass.getuser()
    with tempfile.TemporaryDirectory(dir=folder) as name:
        root, data = Path(name), Path(name, "data")
        shutil.chown(root, as_user)  # nobody else can reach the socket, so no password is needed
        _as(as_user, "initdb", "-D", data, "-U", USER, "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
        options = " ".join(f"-c {key}='{value}'" for key, value in SETTINGS.items())
        _as(as_user, "pg_ctl", "-D", data, "-w", "-l", root / "log", "-o", f"-k {root} {options}", "start")
        try:
            with psycopg.connect(host=name, user=USER, dbname="postgres", autocommit=True) as connection:
                for table in INDEXES:
                    _copy(warehouse, connection, table)
                yield connection
        finally:
            _as(as_user, "pg_ctl", "-D", data, "-m", "immediate", "stop")


def wanted(question: Question, known: Params) -> Params:
    """Select a question's parameters from all known ones."""
    return {name: known[name] for name in re.findall(r"\$(\w+)", question.sql)}


def for_postgres(sql: str) -> str:
    """Return a question's SQL with psycopg's parameter syntax."""
    return re.sub(r"\$(\w+)", r"%(\1)s", sql.replace("%", "%%"))


def same(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> bool:
    """Return whether two answers have the same rows, in any order, with numbers equal to nine digits."""
    return sorted(map(_plain, one)) == sorted(map(_plain, other))


def _plain(row: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(
        "" if _is_missing(value) else value if isinstance(value, str) else f"{float(value):.9g}" for value in row
    )


def _is_missing(value: Any) -> bool:
    return value is None or value != value  # the latter is NaN


def _program(name: str) -> str | None:
    return str(BIN / name) if (BIN / name).exists() else shutil.which(name)


def _as(user: str, name: str, *arguments: str | Path) -> None:
    user_of_process = user if os.geteuid() == 0 else None
    subprocess.run(
        [str(_program(name)), *arguments], user=user_of_process, cwd="/", check=True, stdout=subprocess.DEVNULL
    )


def _copy(warehouse: Warehouse, connection: psycopg.Connection[Any], table: str) -> None:
    columns = {
        row["column_name"]: TYPES[row["data_type"]]
        for row in warehouse.query(
            "select column_name, data_type from duckdb_columns() "
            "where table_name = $table and database_name = 'warehouse'",
            {"table": table},
        ).to_pylist()
        if row["data_type"] in TYPES
    }
    connection.execute(f"create table {table} ({', '.join(f'{name} {type_}' for name, type_ in columns.items())})")
    with (
        warehouse.database.cursor() as source,
        connection.cursor().copy(f"copy {table} from stdin (format csv)") as sink,
    ):
        source.execute("use warehouse")
        reader = source.sql(f"select {', '.join(columns)} from {table}").to_arrow_reader(COPIED_ROWS)  # noqa: S608 -- ours
        for batch in reader:
            lines = io.BytesIO()
            pa_csv.write_csv(batch, lines, pa_csv.WriteOptions(include_header=False))
            sink.write(lines.getvalue())
    for place, indexed in enumerate(INDEXES.get(table, ())):
        connection.execute(f"create index {table}_{place} on {table} ({indexed})")
    connection.execute(f"vacuum analyze {table}")
