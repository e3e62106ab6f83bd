"""Dropline and its alternatives side by side: ingest, eleven questions, and the essential work of a build.

    make bench-peers                                over 10,000 generated trials
    python -m benchmarks.peers HOME --trials 2000   over the warehouse of a home; the tree to ingest has 2,000 trials

Every engine is a process of its own over the same tables: the warehouse as Dropline opens it, DuckDB over Parquet,
Polars in memory and over Parquet, ClickHouse in process (chDB) with tables of its own and over Parquet, and PostgreSQL
with an index on each key. They are asked in turn, so that other load on the machine affects all of them, and their
answers must be equal. Whatever is not installed is left out, and the result says so: PostgreSQL, and the packages of
requirements-peers.lock, which `make` puts into .venv-peers.
"""

from __future__ import annotations

import argparse
import getpass
import importlib.util
import io
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from benchmarks import alternatives
from benchmarks.plots import COLOURS, dots, machine, publish, table
from benchmarks.processes import SPAWN, Cost, cost_of, cpu_s, peak_mb
from benchmarks.queries import drawn
from benchmarks.trees import render
from dropline.app.warehouse import LIMITS, Warehouse
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from multiprocessing.connection import Connection

    Values = Mapping[str, str]
    Ask = Callable[[str, Values], Any]

TIMES: Final = 20
TRIALS: Final = 2_000  # of the tree that is ingested
RUNS: Final = 3  # of an ingest
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
    "string": "text",
    "int64": "bigint",
    "int32": "integer",
    "double": "double precision",
    "bool": "boolean",
    "timestamp[us]": "timestamp",
}
# Of all tables that the questions name: PostgreSQL's indexes; ClickHouse sorts the table by the first.
KEYS: Final = {
    "trials": ("run_id", "trial_id", "configuration_id", "campaign"),
    "trial_intervals": ("trial_id",),
    "run_steps": ("configuration_id",),
    "runs": ("run_id", "configuration_id"),
    "capacity": ("loss_goal, rate", "configuration_id"),
    "configurations": ("configuration_id",),
    "quality_findings": ("finding", "configuration_id"),
}
# What an engine calls otherwise than DuckDB and PostgreSQL: patterns of the questions' text and their replacements.
QUANTILE: Final = r"percentile_cont\((\S+)\) within group \(order by (\w+)\)"
POLARS: Final = ((QUANTILE, r"quantile_cont(\2, \1)"),)
CLICKHOUSE: Final = ((QUANTILE, r"quantileExactInclusive(\1)(\2)"),)


class Question(NamedTuple):
    """One question for all engines.

    Attributes:
        name: for people.
        kind: "all rows" aggregates a table, the main use of a warehouse; "a key" looks up few rows; "build" makes a
            table, and then the answer is a sum over it.
        sql: in the dialect common to all; `$name` is a parameter.

    """

    name: str
    kind: str
    sql: str


MADE: Final = "select count(*) as n, sum(a) as a, sum(b) as b from made"
TEXT: Final = Path(__file__).with_name("questions.sql").read_text("utf-8")
QUESTIONS: Final = [Question(*found) for found in re.findall(r"-- (.+) \((.+)\)\n([^;]+);", TEXT)]


class Opened(NamedTuple):
    """An engine with the tables: how it answers, and how it makes the table `made`, which it replaces.

    Attributes:
        ask: returns the answer as the engine gives it: rows, or a table that converts itself.
        make: the same for the question of a build.
        cpu_s: the CPU seconds so far.
        folder: where its own copy of the tables is, if it needs one.

    """

    ask: Ask
    make: Ask
    cpu_s: Callable[[], float] = time.process_time
    folder: Path | None = None


def literal(sql: str, values: Values) -> str:
    """Return a question's text with its parameters filled in, for engines without parameters."""
    return re.sub(r"\$(\w+)", lambda found: "'{}'".format(values[found[1]].replace("'", "''")), sql)


def translated(sql: str, dialect: Sequence[tuple[str, str]]) -> str:
    """Return a question's text in an engine's dialect."""
    for pattern, replacement in dialect:
        sql = re.sub(pattern, replacement, sql)
    return sql


@contextmanager
def warehouse(home: Path, _: Path, folder: Path) -> Iterator[Opened]:
    """Open the warehouse as the dashboard does; tables are made in a database beside it."""
    asked = Warehouse.open(home / "warehouse.duckdb")
    with _duckdb(folder) as (made, make):
        made.execute(f"attach '{home / 'warehouse.duckdb'}' as warehouse (read_only)")
        made.execute("set search_path = 'peer,warehouse'")
        yield Opened(
            lambda sql, values: made.sql(sql).to_arrow_table() if sql == MADE else asked.query(sql, values), make
        )


@contextmanager
def duckdb_parquet(_: Path, tables: Path, folder: Path) -> Iterator[Opened]:
    """Open DuckDB over the Parquet files."""
    with _duckdb(folder) as (connection, make):
        for name in KEYS:
            connection.execute(f"create view {name} as from '{tables / name}.parquet'")
        yield Opened(lambda sql, values: connection.sql(sql, params=dict(values)).to_arrow_table(), make)


@contextmanager
def _duckdb(folder: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, Ask]]:
    limits: dict[str, Any] = {name: value for name, value in LIMITS.items() if name != "temp_directory"}
    with duckdb.connect(str(folder / "peer.duckdb"), config=limits) as connection:
        connection.execute("set enable_progress_bar = false")
        yield connection, lambda sql, _: connection.execute(f"create or replace table peer.made as {sql}")


@contextmanager
def polars(_: Path, tables: Path, folder: Path, *, in_memory: bool) -> Iterator[Opened]:
    """Read all tables into Polars, or open it over the Parquet files, lazily."""
    import polars as pl

    read = pl.read_parquet if in_memory else pl.scan_parquet
    context = pl.SQLContext({name: read(tables / f"{name}.parquet") for name in KEYS})

    def planned(sql: str, values: Values) -> pl.LazyFrame:
        return context.execute(translated(literal(sql, values), POLARS))

    def make(sql: str, values: Values) -> None:
        if in_memory:
            context.register("made", planned(sql, values).collect())
        else:
            planned(sql, values).sink_parquet(folder / "made.parquet")
            context.register("made", pl.scan_parquet(folder / "made.parquet"))

    yield Opened(lambda sql, values: planned(sql, values).collect(), make)


@contextmanager
def clickhouse(_: Path, tables: Path, folder: Path, *, in_tables: bool) -> Iterator[Opened]:
    """Load all tables into ClickHouse's MergeTree, or open it over the Parquet files."""
    from chdb.session import Session

    session = Session(str(folder))
    session.query("set session_timezone = 'UTC', join_use_nulls = 1")
    for name, keys in KEYS.items():
        engine = f"engine = MergeTree order by ({keys[0]}) settings allow_nullable_key = 1"
        what = f"table {name} {engine}" if in_tables else f"view {name}"
        session.query(f"create {what} as select * from file('{tables / name}.parquet', Parquet)")  # noqa: S608 -- ours

    def ask(sql: str, values: Values) -> pa.Table:
        return session.query(translated(literal(sql, values), CLICKHOUSE), "ArrowTable")

    def make(sql: str, values: Values) -> None:
        session.query("drop table if exists made sync")
        session.query(f"create table made engine = MergeTree order by tuple() as {literal(sql, values)}")

    yield Opened(ask, make, folder=folder if in_tables else None)
    session.close()


@contextmanager
def postgres(_: Path, tables: Path, folder: Path) -> Iterator[Opened]:
    """Start a PostgreSQL below `folder`, on a Unix socket only, load all tables, and connect.

    It refuses to run as root; then it runs as its package's account `postgres`.

    Raises:
        subprocess.CalledProcessError: it did not start.
    """
    import psycopg

    as_user, data = USER if os.geteuid() == 0 else getpass.getuser(), folder / "data"
    shutil.chown(folder, as_user)  # nobody else can reach the socket, so no password is needed
    _as(as_user, "initdb", "-D", data, "-U", USER, "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
    options = " ".join(f"-c {key}='{value}'" for key, value in SETTINGS.items())
    _as(as_user, "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", f"-k {folder} {options}", "start")
    server = int((data / "postmaster.pid").read_text("utf-8").split()[0])
    try:
        with psycopg.connect(host=str(folder), user=USER, dbname="postgres", autocommit=True) as connection:
            for name, keys in KEYS.items():
                _copy(tables / f"{name}.parquet", connection, name, keys)

            def ask(sql: str, values: Values) -> list[tuple[Any, ...]]:
                text = re.sub(r"\$(\w+)", r"%(\1)s", sql.replace("%", "%%"))
                return connection.execute(text, values).fetchall()

            def make(sql: str, _: Values) -> None:
                connection.execute("drop table if exists made")
                connection.execute(f"create table made as {sql}")

            yield Opened(ask, make, lambda: cpu_s(server) + time.process_time(), data)
    finally:
        _as(as_user, "pg_ctl", "-D", data, "-m", "immediate", "stop")


def _copy(file: Path, connection: Any, name: str, keys: Sequence[str]) -> None:
    columns = ", ".join(f"{field.name} {TYPES[str(field.type)]}" for field in pq.read_schema(file))
    connection.execute(f"create table {name} ({columns})")
    with connection.cursor().copy(f"copy {name} from stdin (format csv)") as sink:
        for batch in pq.ParquetFile(file).iter_batches():
            lines = io.BytesIO()
            pa_csv.write_csv(batch, lines, pa_csv.WriteOptions(include_header=False))
            sink.write(lines.getvalue())
    for place, key in enumerate(keys):
        connection.execute(f"create index {name}_{place} on {name} ({key})")
    connection.execute(f"vacuum analyze {name}")


def _program(name: str) -> str | None:
    return str(BIN / name) if (BIN / name).exists() else shutil.which(name)


def _as(user: str, name: str, *arguments: str | Path) -> None:
    user_of_process = user if os.geteuid() == 0 else None
    subprocess.run(
        [str(_program(name)), *arguments], user=user_of_process, cwd="/", check=True, stdout=subprocess.DEVNULL
    )


ENGINES: Final[Mapping[str, Callable[[Path, Path, Path], AbstractContextManager[Opened]]]] = {
    "Dropline": warehouse,
    "DuckDB, Parquet": duckdb_parquet,
    "Polars, memory": partial(polars, in_memory=True),
    "Polars, Parquet": partial(polars, in_memory=False),
    "ClickHouse": partial(clickhouse, in_tables=True),
    "ClickHouse, Parquet": partial(clickhouse, in_tables=False),
    "PostgreSQL": postgres,
}


def into_lake(tree: Path, folder: Path) -> tuple[int, ...]:
    """Ingest a tree with Dropline, and return the rows of the alternatives' tables."""
    lake = Lake.create(folder / "lake")
    ingest([tree], lake)
    return tuple(lake.tables(name, ["trial_id"]).num_rows for name in alternatives.TABLES)


INGESTS: Final[Mapping[str, Callable[[Path, Path], Any]]] = {
    "Dropline": into_lake,
    "a script: re, pandas, SQLite": alternatives.script,
    "DuckDB": alternatives.sql,
    "Polars": alternatives.polars,
    "ClickHouse": alternatives.clickhouse,
}


def is_installed(name: str) -> bool:
    """Return whether an engine can be measured here."""
    if name == "PostgreSQL":
        return _program("initdb") is not None
    modules = {"Polars": "polars", "ClickHouse": "chdb"}
    return all(importlib.util.find_spec(module) for prefix, module in modules.items() if name.startswith(prefix))


class Spent(NamedTuple):
    """What one answer took, and its rows if wanted."""

    seconds: float
    cpu_s: float
    rows: list[tuple[Any, ...]] | None


class Peer:
    """An engine in a process of its own."""

    def __init__(self, name: str, home: Path, tables: Path, folder: Path) -> None:
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=_serve, args=(name, home, tables, folder, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.loading: Cost = self.pipe.recv()

    def asked(self, question: Question, values: Values, *, wants_rows: bool = False) -> Spent:
        """Ask once."""
        self.pipe.send((question, values, wants_rows))
        spent: Spent = self.pipe.recv()
        return spent

    def closed(self) -> float:
        """End the process, and return its peak memory in MB."""
        self.pipe.send(None)
        memory_mb: float = self.pipe.recv()
        self.process.join()
        return memory_mb


def _serve(name: str, home: Path, tables: Path, folder: Path, pipe: Connection) -> None:
    began, imported_s = time.perf_counter(), time.process_time()
    with ENGINES[name](home, tables, folder) as opened:
        files = opened.folder.rglob("*") if opened.folder else ()
        size_mb = sum(file.stat().st_size for file in files if file.is_file()) / 1e6
        pipe.send(Cost(time.perf_counter() - began, opened.cpu_s() - imported_s, size_mb))
        for question, values, wants_rows in iter(pipe.recv, None):
            answer = opened.make if question.kind == "build" else opened.ask
            cpu_began_s, asked = opened.cpu_s(), time.perf_counter()
            found = answer(question.sql, values)
            seconds, spent_s = time.perf_counter() - asked, opened.cpu_s() - cpu_began_s
            answer = opened.ask(MADE, {}) if question.kind == "build" and wants_rows else found
            pipe.send(Spent(seconds, spent_s, rows_of(answer) if wants_rows else None))
        pipe.send(peak_mb())


def rows_of(answer: Any) -> list[tuple[Any, ...]]:
    """Return the rows of any engine's answer."""
    if isinstance(answer, list):
        return answer
    answered = answer if isinstance(answer, pa.Table) else answer.to_arrow()  # Polars
    return list(zip(*answered.to_pydict().values(), strict=True))


def same(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> bool:
    """Return whether two answers have the same rows, in any order, with numbers equal to nine digits."""
    return sorted(map(_plain, one)) == sorted(map(_plain, other))


def _plain(row: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(
        "" if _is_missing(value) else value if isinstance(value, str) else f"{float(value):.9g}" for value in row
    )


def _is_missing(value: Any) -> bool:
    return value is None or value != value  # the latter is NaN


class Compared(NamedTuple):
    """One question on all engines: the median seconds and the mean CPU seconds of each, and whose answer differs."""

    question: Question
    seconds: dict[str, float]
    cpu_s: dict[str, float]
    differing: list[str]


def compared(question: Question, peers: Mapping[str, Peer], values: Sequence[Values]) -> Compared:
    """Ask all engines in turn, once per set of values; the first answers are compared, and not timed."""
    needed = [{name: given[name] for name in re.findall(r"\$(\w+)", question.sql)} for given in values]
    rows = {name: peer.asked(question, needed[0], wants_rows=True).rows or [] for name, peer in peers.items()}
    spent: dict[str, list[Spent]] = {name: [] for name in peers}
    for given in needed[:RUNS] if question.kind == "build" else needed:
        for name, peer in peers.items():
            spent[name].append(peer.asked(question, given))
    first = next(iter(rows.values()))
    return Compared(
        question,
        {name: statistics.median(each.seconds for each in found) for name, found in spent.items()},
        {name: statistics.mean(each.cpu_s for each in found) for name, found in spent.items()},
        [name for name, each in rows.items() if not same(first, each)],
    )


def main() -> None:
    """Measure, print the tables, and write them to benchmarks/results/peers.md, with a plot beside it."""
    read = argparse.ArgumentParser(prog="python -m benchmarks.peers", description="Measure Dropline and its peers.")
    read.add_argument("home", type=Path)
    read.add_argument("--times", type=int, default=TIMES, help="repetitions of each question")
    read.add_argument("--trials", type=int, default=TRIALS, help="size of the tree to ingest")
    read.add_argument("--folder", type=Path, help="where trees and databases are put meanwhile")
    given = read.parse_args()
    engines = [name for name in ENGINES if is_installed(name)]
    left_out = ", ".join(name for name in ENGINES if name not in engines) or "nothing"
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        Path(name).chmod(0o755)  # PostgreSQL's account passes through
        ingested = ingests(Path(name), given.trials, [each for each in INGESTS if is_installed(each)])
        head, loaded, answers = asked(given.home.absolute(), Path(name), engines, given.times)
    head += f" {machine()}. Not installed, and left out: {left_out}."
    text = "\n\n".join([head, _questions(answers), _loads(loaded), _ingests(ingested, given.trials)]) + "\n"
    publish("peers", text, plot(answers))


def asked(
    home: Path, folder: Path, engines: Sequence[str], times: int
) -> tuple[str, dict[str, tuple[Cost, float]], list[Compared]]:
    """Return what was asked for, the cost of loading and the peak memory (MB) of each engine, and the answers."""
    tables, opened = folder / "tables", Warehouse.open(home / "warehouse.duckdb")
    tables.mkdir()
    rows = {name: _exported(home, name, tables) for name in KEYS}
    values = [given | {"pattern": f"%{given['word']}%"} for given in drawn(opened, times)]
    opened.database.close()
    peers = {}
    for name in engines:
        (own := folder / name.replace(", ", "-")).mkdir()
        peers[name] = Peer(name, home, tables, own)
    answers = [compared(question, peers, values) for question in QUESTIONS]
    loaded = {name: (peer.loading, peer.closed()) for name, peer in peers.items()}
    counts = ", ".join(f"{rows[name]:,} {name}" for name in ("trials", "trial_intervals", "quality_findings"))
    return f"A warehouse of {counts}; n = {times} each, warm, in turn; {RUNS} each of the builds.", loaded, answers


def _exported(home: Path, name: str, folder: Path) -> int:
    """Write a table's plain columns as Parquet, and return its rows."""
    with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as connection:
        wanted = [field.name for field in connection.table(name).to_arrow_reader(1).schema if str(field.type) in TYPES]
        select = f"select {', '.join(wanted)} from {name}"  # noqa: S608 -- ours
        ((count,),) = connection.execute(f"copy ({select}) to '{folder / name}.parquet'").fetchall()
    return int(count)


def ingests(folder: Path, trials: int, names: Sequence[str]) -> dict[str, list[Cost]]:
    """Ingest a tree with each of the named candidates in turn, and return the costs."""
    render(folder / "tree", trials)
    found: dict[str, list[Cost]] = {name: [] for name in names}
    for run in range(RUNS):
        for name in names:
            (own := folder / f"ingest-{run}-{name[:6]}").mkdir()
            found[name].append(cost_of(INGESTS[name], folder / "tree", own))
            shutil.rmtree(own)
    return found


def _questions(answers: Sequence[Compared]) -> str:
    """Return the tables of wall and CPU time: Dropline's milliseconds, and the ratio of each other to it."""
    first, *others = answers[0].seconds
    parts = []
    for what, title in (("seconds", "Wall time"), ("cpu_s", "CPU time of all cores")):
        rows = []
        for each in answers:
            spent = getattr(each, what)
            ratios = [f"{max(spent[name] / spent[first], 0.01):.2g}" for name in others]
            cells = [min(spent, key=spent.__getitem__), ", ".join(each.differing) or "none"]
            rows.append([each.question.name, each.question.kind, f"{1000 * spent[first]:.1f}", *ratios, *cells])
        heads = ["question", "reads", f"{first}, ms", *others, "fastest", "other answers"]
        parts.append(f"## {title}: {first}'s, and how many times it the others take\n\n{table(heads, rows)}")
    return "\n\n".join(parts)


def _loads(loaded: Mapping[str, tuple[Cost, float]]) -> str:
    rows = [
        [name, f"{cost.seconds:.1f}", f"{cost.cpu_s:.1f}", f"{cost.memory_mb:.0f}", f"{peak:.0f}"]
        for name, (cost, peak) in loaded.items()
    ]
    heads = ["engine", "seconds", "CPU seconds", "its own copy, MB", "peak memory in the end, MB"]
    return (
        "## Loading the tables\n\nWith the imports of the engine. Of PostgreSQL the memory is that of the client.\n\n"
        + table(heads, rows)
    )


def _ingests(found: Mapping[str, Sequence[Cost]], trials: int) -> str:
    least = {name: min(costs, key=lambda cost: cost.cpu_s) for name, costs in found.items()}
    rows = []
    for name, cost in least.items():
        ratio = cost.cpu_s / least["Dropline"].cpu_s
        spent = [f"{cost.seconds:.2f}", f"{cost.cpu_s:.2f}", f"{ratio:.2f}", f"{cost.memory_mb:.0f}"]
        rows.append([name, *spent, *(f"{count:,}" for count in cost.said)])
    heads = ["candidate", "seconds", "CPU seconds", "over Dropline's", "memory, MB", *alternatives.TABLES]
    return (
        f"## Ingest of {trials:,} trials\n\nThe run with the least CPU time of {RUNS}, in turn. Only Dropline "
        "recognises files, keeps their bytes, finds damaged ones and knows the machines. Its rows differ: a line of an "
        "interval is a row for each exchange, and the one exchange of dnsperf is part of the trial.\n\n"
        + table(heads, rows)
    )


def plot(answers: Sequence[Compared]) -> str:
    """Return the wall times as an SVG: a row for each question, a dot for each engine, milliseconds on a log scale."""
    rows = {each.question.name: {name: 1000 * took for name, took in each.seconds.items()} for each in answers}
    return dots(rows, dict(zip(answers[0].seconds, cycle(COLOURS), strict=False)), "ms", range(-1, 6))


if __name__ == "__main__":
    main()
