"""Reader of Spirent TestCenter's results databases (SQLite 3, `.db`).

A database is untrusted input: it is opened in memory and read-only, and queries have limits of time and rows. Tables
and columns are found by name, as versions differ. A file has a data set per save, of which only the newest counts.
"""

import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Final

from dropline.ingest.formats import Parts, Reject, Report
from dropline.ingest.formats.testcenter_csv import TOOL, trial_of
from dropline.ingest.formats.testcenter_views import LEASES, count_leases, has_leases
from dropline.ingest.formats.text import HEAD_BYTES, unpack
from dropline.ingest.formats.throughput import MAX_TABLE_BYTES, Columns, Record, Trial, several_trials

NAME = "testcenter_results"

_MAGIC: Final = b"SQLite format 3\0"
_SECONDS: Final = 5.0
_STEPS_BETWEEN_CHECKS: Final = 20_000
_MAX_ROWS: Final = 50_000
_MAX_VALUE_BYTES: Final = 1_000_000
_MAX_TABLES: Final = 2_000
# Levels of an RFC 2544 result, from single loads to the summary of a frame size, of which one is enough.
_LEVELS: Final = ("PerLoadResult", "PerIterationResult", "PerFrameSizeResult")
_RFC2544: Final = re.compile(r"Rfc2544(\w+?)(" + "|".join(_LEVELS) + ")", re.ASCII)
_STREAMS: Final = ("TxEotStreamResults", "RxEotStreamResults")
_PORTS: Final = ("GeneratorPortResults", "AnalyzerPortResults")
_ALLOWED: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})
_HINT: Final = "save the results again with SaveDetailedResults TRUE, and copy the whole file"

Tables = dict[str, list[str]]
Load = Callable[[str], list[Record]]


def sniff(head: bytes) -> bool:
    """Return whether a file that begins with `head` is an SQLite database."""
    return unpack(head, HEAD_BYTES)[0].startswith(_MAGIC)


def parse(data: bytes) -> Parts:
    """Yield every trial and a reject for every unusable part of a database; never raises for bad input.

    RFC 2544 tables give a trial per row. Without them, the final counters of the streams, else of the ports, are one
    trial.
    """
    content, fault = unpack(data, MAX_TABLE_BYTES + 1)
    if fault or len(content) > MAX_TABLE_BYTES:
        yield fault or Reject(1, f"more than {MAX_TABLE_BYTES // 1024**2} MiB", "save the results of fewer tests")
        return
    found = 0
    try:
        with _opened(content) as connection:
            for part in _read(connection):
                found += isinstance(part, Report)
                yield part
    except (sqlite3.Error, MemoryError, OverflowError, ValueError) as error:
        kept = f" after {found} trials" if found else ""
        yield Reject(1, f"database cannot be read{kept}: {error}"[:300], _HINT)


@contextmanager
def _opened(content: bytes) -> Iterator[sqlite3.Connection]:
    def may_only_read(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        probes = action == sqlite3.SQLITE_PRAGMA and first == "table_info" and second is not None
        return sqlite3.SQLITE_OK if action in _ALLOWED or probes else sqlite3.SQLITE_DENY

    # An in-memory database has no write-ahead log, so its header must not request one.
    content = content[:18] + b"\1\1" + content[20:]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(content)
        connection.execute("pragma trusted_schema = off")
        connection.execute("pragma cell_size_check = on")
        connection.execute("pragma query_only = on")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.set_authorizer(may_only_read)
        end = time.monotonic() + _SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS_BETWEEN_CHECKS)
        yield connection


def _read(connection: sqlite3.Connection) -> Parts:
    # Views are ignored, as they may run arbitrary queries.
    made = connection.execute("select name, sql from sqlite_master where type = 'table' limit ?", [_MAX_TABLES])
    names = [str(name) for name, sql in made if str(sql)[:12].lower() == "create table"]
    names = [name for name in names if name == "DataSet" or name.endswith(("Results", "Result"))]
    described = {name: connection.execute(f"pragma table_info({_quoted(name)})") for name in names}
    tables = {name: [str(column[1]) for column in columns] for name, columns in described.items()}
    if "DataSet" not in tables:
        yield Reject(1, "SQLite database without a table DataSet: it is not TestCenter's", "ingest TestCenter's .db")
        return

    def load(name: str) -> list[Record]:
        listed = ", ".join(map(_quoted, tables[name]))
        rows = connection.execute(f"select {listed} from {_quoted(name)} limit {_MAX_ROWS + 1}").fetchall()  # noqa: S608
        if len(rows) > _MAX_ROWS:
            raise ValueError(f"table {name} has more than {_MAX_ROWS} rows")
        columns = Columns(tables[name])
        return [Record(1, columns, row) for row in rows]

    found = False
    for part in _rfc2544(load, tables):
        found = True
        yield part
    for sent, received in (_STREAMS, _PORTS):
        if not found and sent in tables and received in tables and (end := _end_of_test(load, sent, received)):
            found = True
            yield end
    for version in "46":
        kinds = [f"Dhcpv{version}{kind}Results" for kind in ("Port", "Block")]
        rows = next((rows for kind in kinds if kind in tables and (rows := _newest(load(kind))[0])), [])
        if rows and has_leases(rows[0].columns):
            found, trial = True, Trial(TOOL, 1, *LEASES)
            trial.facts["protocol"] = f"DHCPv{version}"
            count_leases(trial, rows)
            yield trial.conclude()
    if not found:
        held = ", ".join(sorted(name for name in tables if name != "DataSet")[:5])
        reason = "results database without a row of results" if held else "configuration without results"
        yield Reject(1, f"TestCenter {reason}" + (f" (it has {held})" if held else ""), _HINT)


def _rfc2544(load: Load, tables: Tables) -> Parts:
    """Yield a trial per row of the most detailed level with rows, for each kind of test."""
    matches = [match for name in sorted(tables) if (match := _RFC2544.fullmatch(name))]
    for kind in dict.fromkeys(match[1] for match in matches):
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).lower()  # `BackToBack` is `back to back`
        named = {match[2]: match[0] for match in matches if match[1] == kind}
        levels = [named[level] for level in _LEVELS if level in named]
        name, rows = next(((level, rows) for level in levels if (rows := load(level))), ("", []))
        records, _ = _newest(rows)
        several = several_trials(record.get("trialnum") for record in records)
        for number, record in enumerate(records, 1):
            part = trial_of(record, f"RFC 2544 {spaced}", several=several).conclude()
            yield Reject(1, f"row {number} of {name}: {part.reason}", part.hint) if isinstance(part, Reject) else part


def _end_of_test(load: Load, sent_table: str, received_table: str) -> Report | Reject | None:
    sent, data_set = _newest(load(sent_table))
    if not sent:
        return None
    received, _ = _newest(load(received_table), data_set)
    streams = sent_table in _STREAMS
    trial = Trial(TOOL, 1, "end of test, streams" if streams else "end of test, ports")
    if streams:
        # As in Results Reporter: a stream that nobody received has no row.
        ids = {record.whole("streamid") for record in sent}
        received = [record for record in received if record.whole("comp32") in ids]
    trial.facts |= {
        "sent": _total(sent, "framecount" if streams else "generatorsigframecount", "totalframecount"),
        "received": _total(received, "framecount" if streams else "sigframecount", "totalframecount"),
    }
    if streams and not received and trial.facts["sent"]:
        trial.facts["received"] = 0
    ports = {record.get("portname" if streams else "parenthnd") for record in sent}
    trial.details |= {"direction_scope": "sum_both", "ports_tx": len(ports)}
    for side, records in (("sent", sent), ("received", received)):
        bits = {"l2": (_total(records, "octetcount", "totaloctetcount") or 0) * 8, "l1": _total(records, "l1bitcount")}
        trial.details |= {f"{side}_{layer}_bits": count for layer, count in bits.items() if count}
    names = {record.whole("streamid"): record.words("streamblockname") for record in sent}
    for record in received:
        label = names.get(record.whole("comp32"))
        trial.latency(record, "us", label)
        trial.observe("dropped_by_sequence", record.whole("droppedframecount"), "frames", label)
    saves = load("DataSet")
    trial.details["saved_at"] = next((r.words("createdtime") for r in saves if r.whole("id") == data_set), None)
    if len(saves) > 1:
        trial.warnings.append(f"The newest of {len(saves)} data sets is read; the others are older saves.")
    return trial.conclude()


def _total(records: list[Record], *names: str) -> int | None:
    counts = [count for record in records if (count := record.whole(*names)) is not None]
    return sum(counts) if counts else None


def _newest(records: list[Record], data_set: int | None = None) -> tuple[list[Record], int | None]:
    """Return the rows of a data set, by default the newest, in the order of their Id, and its number."""
    if records and "datasetid" in records[0].columns.names:
        if data_set is None:
            data_set = max((number for r in records if (number := r.whole("datasetid")) is not None), default=None)
        records = [record for record in records if record.whole("datasetid") == data_set]
    return sorted(records, key=lambda record: record.whole("id") or 0), data_set


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
