"""Alternatives to Dropline for loading such trees: a Python script, or DuckDB's SQL alone.

Both are written as one would for a fixed, known layout, and fast: compiled expressions, one pass per file, bulk
inserts. They load the reports of perfdhcp and dnsperf and their sidecars into trials, exchanges and intervals. They do
not recognise files, store their bytes, detect damaged ones, parse configurations and machine facts, or skip known
files.
"""

from __future__ import annotations

import json
import re
import sqlite3
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
_INTERVAL = re.compile(r"^sent: (\d+)/(\d+); received: (\d+)/(\d+); drops: (\d+)/(\d+)", re.MULTILINE)


def script(tree: Path, folder: Path) -> None:
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
        context = {name: said.get(name) for name in ("start_utc", "backend", "mode", "ha", "rep", "host")}
        trials.append(
            {"path": str(path), "command": command[1], "offered": int(command[2]), "rate": float(rate[1])} | context
        )
        exchanges += [(key, *found.groups()) for found in _EXCHANGE.finditer(text)]
        for sent, received, lost, mean, least, most, deviation in _QUERIES.findall(text):
            delays = (1000 * float(seconds) for seconds in (least, mean, most, deviation))
            exchanges.append((key, "query", sent, received, lost, *delays))
        intervals += [(key, second, *found.groups()) for second, found in enumerate(_INTERVAL.finditer(text), 1)]
    names = ["trial", "exchange", "sent", "received", "drops", "min_ms", "avg_ms", "max_ms", "stdev_ms"]
    counters = ["trial", "t_s", "sent1", "sent2", "received1", "received2", "drops1", "drops2"]
    tables = {
        "trials": pd.DataFrame(trials),
        "exchanges": _numeric(pd.DataFrame(exchanges, columns=names), names[2:]),
        "intervals": _numeric(pd.DataFrame(intervals, columns=counters), counters[2:]),
    }
    with sqlite3.connect(folder / "script.sqlite") as connection:
        for name, frame in tables.items():
            frame.to_sql(name, connection, index=True, chunksize=10_000)


def _reports(tree: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each report and the path of its sidecar."""
    for path in tree.rglob("rate*.txt"):
        yield path, path.with_suffix(".json")
    for path in tree.rglob("dnsperf.out"):
        yield path, path.with_name("meta.json")


def _numeric(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in columns})


def sql(tree: Path, folder: Path) -> None:
    """Load a tree with SQL alone: read_text, regexp_extract, json_extract_string."""
    with duckdb.connect(str(folder / "sql.duckdb")) as connection:
        connection.execute("set enable_progress_bar = false")
        for statement in _SQL:
            connection.execute(statement.replace("{tree}", str(tree).replace("'", "''")))


_SQL = (
    r"""
create table reports as
select
    filename as path,
    regexp_replace(regexp_replace(filename, '[.]txt$', '.json'), 'dnsperf[.]out$', 'meta.json') as sidecar,
    content
from read_text(['{tree}/**/rate*.txt', '{tree}/**/dnsperf.out'])
""",
    r"""
create table trials as
with sidecars as (
    select
        filename as path,
        json_extract_string(content, ['start_utc', 'backend', 'mode', 'ha', 'rep', 'host']) as said
    from read_text(['{tree}/**/rate*.json', '{tree}/**/meta.json'])
)
select
    reports.path,
    regexp_extract(content, '(?:Running|Command line): (.*)', 1) as command,
    regexp_extract(content, ' -[rQ] (\d+) ', 1)::integer as offered,
    regexp_extract(content, '(?:Rate|Queries per second): +([\d.e+]+)', 1)::double as rate,
    said[1]::timestamp as start_utc,
    said[2] as backend,
    said[3] as mode,
    said[4] as ha,
    said[5]::integer as rep,
    said[6] as host
from reports
left join sidecars on reports.sidecar = sidecars.path
where regexp_matches(content, '(?:Rate|Queries per second): ')
""",
    r"""
create table exchanges as
with blocks as (
    select path, unnest(string_split(content, '***Statistics for: ')[2:]) as block
    from reports
)
select
    path,
    regexp_extract(block, '^([^*]+)', 1) as exchange,
    regexp_extract(block, 'sent packets: (\d+)', 1)::bigint as sent,
    regexp_extract(block, 'received packets: (\d+)', 1)::bigint as received,
    regexp_extract(block, 'drops: (\d+)', 1)::bigint as drops,
    regexp_extract(block, 'min delay: ([\d.]+)', 1)::double as min_ms,
    regexp_extract(block, 'avg delay: ([\d.]+)', 1)::double as avg_ms,
    regexp_extract(block, 'max delay: ([\d.]+)', 1)::double as max_ms,
    regexp_extract(block, 'std deviation: ([\d.]+)', 1)::double as stdev_ms
from blocks
where regexp_matches(block, 'std deviation: ')
union all
select
    path,
    'query',
    regexp_extract(content, 'Queries sent: +(\d+)', 1)::bigint,
    regexp_extract(content, 'Queries completed: +(\d+)', 1)::bigint,
    regexp_extract(content, 'Queries lost: +(\d+)', 1)::bigint,
    1000 * regexp_extract(content, '\(min ([\d.]+)', 1)::double,
    1000 * regexp_extract(content, 'Average Latency \(s\): +([\d.]+)', 1)::double,
    1000 * regexp_extract(content, ', max ([\d.]+)', 1)::double,
    1000 * regexp_extract(content, 'StdDev \(s\): +([\d.]+)', 1)::double
from reports
where regexp_matches(content, 'Latency StdDev')
""",
    r"""
create table intervals as
with lines as (
    select path, unnest(regexp_extract_all(content, 'sent: [\d/]+; received: [\d/]+; drops: [\d/]+')) as line
    from reports
),
counters as (
    select path, regexp_extract_all(line, '\d+') as found
    from lines
)
select
    path,
    found[1]::bigint as sent1,
    found[2]::bigint as sent2,
    found[3]::bigint as received1,
    found[4]::bigint as received2,
    found[5]::bigint as drops1,
    found[6]::bigint as drops2
from counters
""",
    "drop table reports",
)
