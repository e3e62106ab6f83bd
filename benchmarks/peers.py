"""The same queries on DuckDB, PostgreSQL and pandas, over the same tables of a warehouse.

PostgreSQL is started in a temporary folder, on a Unix socket only. It gets the full tables except nested columns, for
which it has no types, and the indexes that point queries need. pandas gets only the queried columns, with texts as
categories, as is usual where memory and speed matter.
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
    from collections.abc import Callable, Iterator, Mapping

    import pandas as pd
    import psycopg

    from dropline.app.warehouse import Warehouse

    Frames = Mapping[str, pd.DataFrame]
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
    """One question for all three engines.

    Attributes:
        name: for people.
        sql: in the dialect common to DuckDB and PostgreSQL; `$name` is a parameter.
        pandas: the same on data frames of the tables.
        needs: the columns of each table that pandas needs.
        is_aggregate: whether it aggregates all rows of a table, the main use of a warehouse.

    """

    name: str
    sql: str
    pandas: Callable[[Frames, Params], pd.DataFrame]
    needs: dict[str, list[str]]
    is_aggregate: bool


def _grouped(frame: pd.DataFrame, keys: list[str]) -> Any:
    return frame.groupby(keys, dropna=False, observed=True)


def _rates(frames: Frames, _: Params) -> pd.DataFrame:
    trials = frames["trials"]
    groups = _grouped(trials[trials["completed"]], ["protocol", "backend"])
    return groups.agg(
        trials=("completed", "size"),
        rate=("achieved_rate", "mean"),
        loss=("loss_worst_exchange", lambda x: x.quantile(0.95)),
    ).reset_index()


def _campaigns(frames: Frames, _: Params) -> pd.DataFrame:
    groups = _grouped(frames["trials"], ["campaign"])
    return groups.agg(
        trials=("campaign", "size"),
        sent=("sent", "sum"),
        received=("received", "sum"),
        rate=("achieved_rate", "max"),
        runs=("run_id", "nunique"),
    ).reset_index()


def _ramps(frames: Frames, _: Params) -> pd.DataFrame:
    trials = frames["trials"]
    groups = _grouped(trials.assign(thousand=trials["offered_rate"] // 1000), ["protocol", "thousand"])
    return groups.agg(trials=("protocol", "size"), loss=("loss_lease", "mean")).reset_index()


def _months(frames: Frames, _: Params) -> pd.DataFrame:
    trials = frames["trials"]
    months = trials["started_at"].dt.strftime("%Y-%m")
    groups = _grouped(trials.assign(month=months), ["month", "tool"])
    return groups.agg(trials=("tool", "size"), rate=("achieved_rate", "mean")).reset_index()


def _exchanges(frames: Frames, _: Params) -> pd.DataFrame:
    groups = _grouped(frames["trial_intervals"], ["exchange"])
    return groups.agg(
        lines=("exchange", "size"), drops=("interval_drops", "sum"), most=("interval_received", "max")
    ).reset_index()


def _findings(frames: Frames, _: Params) -> pd.DataFrame:
    return _grouped(frames["quality_findings"], ["severity", "finding", "campaign"]).size().reset_index()


def _texts(frames: Frames, params: Params) -> pd.DataFrame:
    findings = frames["quality_findings"]
    found = findings[findings["detail"].astype(str).str.lower().str.contains(params["word"], regex=False)]
    return _grouped(found, ["finding"]).size().reset_index()


def _capacities(frames: Frames, params: Params) -> pd.DataFrame:
    capacity = frames["capacity"]
    chosen = capacity[(capacity["loss_goal"] == params["loss_goal"]) & (capacity["origin"] == "measured")]
    joined = chosen.merge(frames["configurations"], on="configuration_id", suffixes=("", "_other"))
    listed = joined.sort_values(["rate", "configuration_id"], ascending=[False, True], na_position="last").head(500)
    return listed[["configuration_id", "configuration", "method", "rate", "ci_low", "ci_high", "status"]]


def _curves(frames: Frames, params: Params) -> pd.DataFrame:
    steps = frames["run_steps"]
    own = steps[steps["configuration_id"] == params["configuration_id"]]
    joined = own.merge(frames["runs"], on="run_id")
    return joined[["run_id", "repetition", "offered_rate", "achieved_rate", "loss_worst_exchange"]]


def _seconds(frames: Frames, params: Params) -> pd.DataFrame:
    lines = frames["trial_intervals"]
    columns = ["exchange", "t_s", "interval_sent", "interval_received", "interval_drops"]
    return lines.loc[lines["trial_id"] == params["trial_id"], columns]


def _trials(frames: Frames, params: Params) -> pd.DataFrame:
    trials = frames["trials"]
    columns = ["trial_id", "offered_rate", "achieved_rate", "sent", "received", "loss_worst_exchange"]
    return trials.loc[trials["run_id"] == params["run_id"], columns]


QUESTIONS: Final = (
    Question(
        "rates and losses by protocol and backend",
        "select protocol, backend, count(*) as trials, avg(achieved_rate) as rate, "
        "percentile_cont(0.95) within group (order by loss_worst_exchange) as loss "
        "from trials where completed group by protocol, backend",
        _rates,
        {"trials": ["protocol", "backend", "completed", "achieved_rate", "loss_worst_exchange"]},
        is_aggregate=True,
    ),
    Question(
        "totals of every campaign",
        "select campaign, count(*) as trials, sum(sent) as sent, sum(received) as received, "
        "max(achieved_rate) as rate, count(distinct run_id) as runs from trials group by campaign",
        _campaigns,
        {"trials": ["campaign", "sent", "received", "achieved_rate", "run_id"]},
        is_aggregate=True,
    ),
    Question(
        "loss over the load",
        "select protocol, floor(offered_rate / 1000) as thousand, count(*) as trials, avg(loss_lease) as loss "
        "from trials group by protocol, floor(offered_rate / 1000)",
        _ramps,
        {"trials": ["protocol", "offered_rate", "loss_lease"]},
        is_aggregate=True,
    ),
    Question(
        "months and tools",
        "select left(cast(started_at as varchar), 7) as month, tool, count(*) as trials, "
        "avg(achieved_rate) as rate from trials group by left(cast(started_at as varchar), 7), tool",
        _months,
        {"trials": ["started_at", "tool", "achieved_rate"]},
        is_aggregate=True,
    ),
    Question(
        "drops of all intervals",
        "select exchange, count(*) as lines, sum(interval_drops) as drops, max(interval_received) as most "
        "from trial_intervals group by exchange",
        _exchanges,
        {"trial_intervals": ["exchange", "interval_drops", "interval_received"]},
        is_aggregate=True,
    ),
    Question(
        "findings by campaign",
        "select severity, finding, campaign, count(*) as findings from quality_findings "
        "group by severity, finding, campaign",
        _findings,
        {"quality_findings": ["severity", "finding", "campaign"]},
        is_aggregate=True,
    ),
    Question(
        "a word in all findings",
        "select finding, count(*) as findings from quality_findings where lower(detail) like '%' || $word || '%' "
        "group by finding",
        _texts,
        {"quality_findings": ["finding", "detail"]},
        is_aggregate=True,
    ),
    Question(
        "the fastest 500 configurations",
        "select capacity.configuration_id, configurations.configuration, configurations.method, capacity.rate, "
        "capacity.ci_low, capacity.ci_high, capacity.status from capacity "
        "inner join configurations on capacity.configuration_id = configurations.configuration_id "
        "where capacity.loss_goal = $loss_goal and capacity.origin = 'measured' "
        "order by capacity.rate desc nulls last, capacity.configuration_id limit 500",
        _capacities,
        {
            "capacity": ["configuration_id", "loss_goal", "origin", "rate", "ci_low", "ci_high", "status"],
            "configurations": ["configuration_id", "configuration", "method"],
        },
        is_aggregate=False,
    ),
    Question(
        "the curves of a configuration",
        "select run_steps.run_id, runs.repetition, run_steps.offered_rate, run_steps.achieved_rate, "
        "run_steps.loss_worst_exchange from run_steps inner join runs on run_steps.run_id = runs.run_id "
        "where run_steps.configuration_id = $configuration_id",
        _curves,
        {
            "run_steps": ["run_id", "configuration_id", "offered_rate", "achieved_rate", "loss_worst_exchange"],
            "runs": ["run_id", "repetition"],
        },
        is_aggregate=False,
    ),
    Question(
        "the seconds of a trial",
        "select exchange, t_s, interval_sent, interval_received, interval_drops from trial_intervals "
        "where trial_id = $trial_id",
        _seconds,
        {"trial_intervals": ["trial_id", "exchange", "t_s", "interval_sent", "interval_received", "interval_drops"]},
        is_aggregate=False,
    ),
    Question(
        "the trials of a run",
        "select trial_id, offered_rate, achieved_rate, sent, received, loss_worst_exchange from trials "
        "where run_id = $run_id",
        _trials,
        {"trials": ["trial_id", "run_id", "offered_rate", "achieved_rate", "sent", "received", "loss_worst_exchange"]},
        is_aggregate=False,
    ),
)


def needed() -> dict[str, list[str]]:
    """Return the columns of each table that any question needs."""
    columns: dict[str, dict[str, None]] = {}
    for question in QUESTIONS:
        for table, names in question.needs.items():
            columns.setdefault(table, {}).update(dict.fromkeys(names))
    return {table: list(names) for table, names in columns.items()}


def frames(warehouse: Warehouse) -> Frames:
    """Return the needed columns as data frames."""
    return {
        table: warehouse.query(f"select {', '.join(columns)} from {table}").to_pandas(strings_to_categorical=True)  # noqa: S608 -- ours
        for table, columns in needed().items()
    }


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
                for table in needed():
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
