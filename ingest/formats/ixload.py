"""The reader of Ixia IxLoad's HTTP_Client.csv.

Some lines of text precede the header, whose captions begin with `HTTP `, and one line follows the samples.

The achieved rate is the mean total throughput (Mbit/s, of HTTP) of the steady samples. The file does not contain the
desired load. Elapsed times are milliseconds.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.text import quote
from dropline.ingest.formats.throughput import (
    MBITS,
    Columns,
    Table,
    Trial,
    account,
    has_table,
    mean_rate,
    number,
    tables,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Report

NAME = "ixload"

_EXPECTED: Final = "expected HTTP_Client.csv of IxLoad, with the column `HTTP Total Throughput (Kbps)`"
_THROUGHPUT: Final = ("httptotalthroughput", "kbps")
_ELAPSED: Final = "elapsedtime"
_SERIES: Final = (
    ("httpconnectionrate", "connection_rate", "connections/s"),
    ("httptransactionrate", "transaction_rate", "transactions/s"),
    ("httpconcurrentconnections", "concurrent_connections", "connections"),
    ("httpsimulatedusers", "simulated_users", "users"),
)
_TRAILER_LINES: Final = 1


def _read(text: bytes) -> Iterator[Report | Reject]:
    for table in tables(text, _is_header):
        if table.columns.keys:
            yield from _trial(table)


def _is_header(columns: Columns) -> bool:
    return _THROUGHPUT in columns.keys


def _trial(table: Table) -> Iterator[Report | Reject]:
    trial = Trial("Ixia IxLoad", table.line, "HTTP client", MBITS)
    samples: list[tuple[float, float]] = []
    times: list[float] = []
    strange = [row for row in table.rows if number(row.cells[0]) is None]
    table.rows = [row for row in table.rows if row not in strange]
    for record in table.records(trial):
        if isinstance(record, Reject):
            yield record
            continue
        time_s = number(record.values[0], 1e-3) if record.columns.keys[0][0] == _ELAPSED else None
        rate = number(record.get(_THROUGHPUT[0], unit=_THROUGHPUT[1]), 1e-3)
        times += [time_s] if time_s is not None else []
        if rate is not None:
            samples.append((float(len(samples)) if time_s is None else time_s, rate))
        trial.observe("throughput", rate, MBITS, None, time_s)
        for name, metric, unit in _SERIES:
            trial.observe(metric, record.number(name), unit, None, time_s)
    trial.completed = trial.completed and len(strange) == _TRAILER_LINES
    if not strange:
        trial.warnings.append("The line below the samples is missing: the file is cut off.")
    for row in strange[:-_TRAILER_LINES]:
        yield Reject(row.number, f"not a sample: {quote(','.join(row.cells))}", _EXPECTED)
    trial.facts |= {"protocol": "HTTP", "achieved_rate": mean_rate(trial, samples)}
    trial.facts["duration_s"] = max(times, default=None)
    trial.details["load_layer"] = "goodput"
    yield trial.conclude()


sniff = partial(has_table, is_header=_is_header)
parse = partial(account, read=_read, expected=_EXPECTED)
