"""Alternatives to Dropline for loading such trees: a Python script, the SQL of DuckDB or ClickHouse alone, Polars.

All are written as one would for a fixed, known layout, and fast: compiled expressions, one pass per file, bulk
inserts. They load the reports of perfdhcp and dnsperf and their sidecars into trials, exchanges and intervals, and
return the rows of each. They do not recognise files, store their bytes, detect damaged ones, parse configurations and
machine facts, or skip known files.
"""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator

    Counts = tuple[int, ...]  # rows of TABLES

TABLES = ("trials", "exchanges", "intervals")
_SAID = ("start_utc", "backend", "mode", "ha", "rep", "host")  # in sidecars
_COMMAND = re.compile(r"(?:Running|Command line): (.* -[rQ] (\d+) .*)")
_RATE = re.compile(r"(?:Rate|Queries per second): +([\d.e+]+)")
_EXCHANGE = re.compile(
    r"Statistics for: (\S+)\*\*\*\nsent packets: (\d+)\nreceived packets: (\d+)\ndrops: (\d+)\n[^*]*?"
    r"min delay: ([\d.]+) ms\navg delay: ([\d.]+) ms\nmax delay: ([\d.]+) ms\nstd deviation: ([\d.]+) ms"
)
_QUERIES = re.compile(
    r"Queries sent: +(\d+)\n +Queries completed: +(\d+).*\n +Queries lost: +(\d+)[\s\S]*?"
    r"Average Latency \(s\): +([\d.]+) \(min ([\d.]+), max ([\d.]+)\)\n +Latency StdDev \(s\): +([\d.]+)"
)
_COUNTERS = ("sent1", "sent2", "received1", "received2", "drops1", "drops2")
_INTERVAL = re.compile(r"^sent: (\d+)/(\d+); received: (\d+)/(\d+); drops: (\d+)/(\d+)", re.MULTILINE)


def script(tree: Path, folder: Path) -> Counts:
    """Load a tree with regular expressions into pandas, and from there into SQLite."""
    trials: list[dict[str, Any]] = []
    exchanges: list[tuple[Any, ...]] = []
    intervals: list[tuple[Any, ...]] = []
    for path, sidecar in _reports(tree):
        text = path.read_text(errors="replace")
        command, rate = _COMMAND.search(text), _RATE.search(text)
        if not command or not rate:
            continue  # a failed attempt
        key = len(trials)
        said = json.loads(sidecar.read_bytes()) if sidecar.exists() else {}
        context = {name: said.get(name) for name in _SAID}
        trials.append(
            {"path": str(path), "command": command[1], "offered": int(command[2]), "rate": float(rate[1])} | context
        )
        exchanges += [(key, *found.groups()) for found in _EXCHANGE.finditer(text)]
        for sent, received, lost, mean, least, most, deviation in _QUERIES.findall(text):
            delays = (1000 * float(seconds) for seconds in (least, mean, most, deviation))
            exchanges.append((key, "query", sent, received, lost, *delays))
        intervals += [(key, second, *found.groups()) for second, found in enumerate(_INTERVAL.finditer(text), 1)]
    names = ["trial", "exchange", "sent", "received", "drops", "min_ms", "avg_ms", "max_ms", "stdev_ms"]
    counters = ["trial", "t_s", *_COUNTERS]
    tables = {
        "trials": pd.DataFrame(trials),
        "exchanges": _numeric(pd.DataFrame(exchanges, columns=names), names[2:]),
        "intervals": _numeric(pd.DataFrame(intervals, columns=counters), counters[2:]),
    }
    with sqlite3.connect(folder / "script.sqlite") as connection:
        for name, frame in tables.items():
            frame.to_sql(name, connection, index=True, chunksize=10_000)
    return tuple(map(len, tables.values()))


def _reports(tree: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each report and the path of its sidecar."""
    for path in tree.rglob("rate*.txt"):
        yield path, path.with_suffix(".json")
    for path in tree.rglob("dnsperf.out"):
        yield path, path.with_name("meta.json")


def _numeric(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in columns})


def sql(tree: Path, folder: Path) -> Counts:
    """Load a tree with SQL alone: read_text, regexp_extract, json_extract_string."""
    with duckdb.connect(str(folder / "sql.duckdb")) as connection:
        connection.execute("set enable_progress_bar = false")
        connection.execute(_statements("duckdb", tree))
        return tuple(connection.table(name).shape[0] for name in TABLES)


def _statements(dialect: str, tree: Path) -> str:
    return Path(__file__).with_name(f"load_{dialect}.sql").read_text("utf-8").replace("$tree", str(tree))


def polars(tree: Path, folder: Path) -> Counts:
    """Load a tree with Polars: Python reads, Polars' expressions extract, Parquet keeps."""
    import polars as pl

    files = [(str(path), str(sidecar), path.read_text(errors="replace")) for path, sidecar in _reports(tree)]
    reports = pl.DataFrame(files, ["path", "sidecar", "content"], orient="row")
    sidecars = pl.DataFrame(
        [(str(path), path.read_text()) for _, path in _reports(tree) if path.exists()],
        ["sidecar", "said"],
        orient="row",
    ).select("sidecar", *(pl.col("said").str.json_path_match(f"$.{name}").alias(name) for name in _SAID))
    content, block = pl.col("content"), pl.col("block")
    trials = reports.filter(content.str.contains("(?:Rate|Queries per second): ")).select(
        "path",
        "sidecar",
        content.str.extract("(?:Running|Command line): (.*)").alias("command"),
        content.str.extract(r" -[rQ] (\d+) ").cast(pl.Int32).alias("offered"),
        content.str.extract(r"(?:Rate|Queries per second): +([\d.e+]+)").cast(pl.Float64).alias("rate"),
    )
    counted = {"sent": r"sent packets: (\d+)", "received": r"received packets: (\d+)", "drops": r"drops: (\d+)"}
    delays = {"min_ms": "min delay", "avg_ms": "avg delay", "max_ms": "max delay", "stdev_ms": "std deviation"}
    blocks = reports.select("path", content.str.split("***Statistics for: ").list.slice(1).alias("block"))
    of_dhcp = (
        blocks.explode("block")
        .filter(block.str.contains("std deviation: "))
        .select(
            "path",
            block.str.extract("^([^*]+)").alias("exchange"),
            *(block.str.extract(pattern).cast(pl.Int64).alias(name) for name, pattern in counted.items()),
            *(block.str.extract(rf"{text}: ([\d.]+)").cast(pl.Float64).alias(name) for name, text in delays.items()),
        )
    )
    of_dns = reports.filter(content.str.contains("Latency StdDev")).select(
        "path",
        pl.lit("query").alias("exchange"),
        *(
            content.str.extract(rf"Queries {text}: +(\d+)").cast(pl.Int64).alias(name)
            for name, text in {"sent": "sent", "received": "completed", "drops": "lost"}.items()
        ),
        *(
            (1000 * content.str.extract(rf"{text}([\d.]+)").cast(pl.Float64)).alias(name)
            for name, text in zip(
                delays, (r"\(min ", r"Average Latency \(s\): +", ", max ", r"StdDev \(s\): +"), strict=True
            )
        ),
    )
    lines = reports.select(
        "path", content.str.extract_all(r"sent: [\d/]+; received: [\d/]+; drops: [\d/]+").alias("line")
    )
    intervals = (
        lines.explode("line")
        .drop_nulls()
        .select("path", pl.col("line").str.extract_all(r"\d+").cast(pl.List(pl.Int64)).alias("found"))
        .select("path", *(pl.col("found").list.get(place).alias(name) for place, name in enumerate(_COUNTERS)))
    )
    tables = (trials.join(sidecars, "sidecar", how="left"), pl.concat([of_dhcp, of_dns]), intervals)
    for name, frame in zip(TABLES, tables, strict=True):
        frame.write_parquet(folder / f"{name}.parquet")
    return tuple(map(len, tables))


def clickhouse(tree: Path, folder: Path) -> Counts:
    """Load a tree with ClickHouse in process: every file is a row, its functions extract, MergeTree keeps."""
    from chdb.session import Session

    session = Session(str(folder / "clickhouse"))
    for statement in _statements("clickhouse", tree).split(";\n")[:-1]:
        session.query(statement)
    counts = [int(str(session.query(f"select count() from {name}"))) for name in TABLES]  # noqa: S608 -- ours
    session.close()
    return tuple(counts)
