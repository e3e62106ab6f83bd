"""The reader of Ixia IxNetwork's QuickTest results: AggregateResults.csv and iteration.csv.

AggregateResults.csv has one row per trial; captions begin with `Agg` in some versions. iteration.csv has a row per
flow: the rows of one trial, frame size and iteration are one trial here. Latencies are nanoseconds, even if the caption
says `(n)`.

Rates are frames/s of all flows. The table gives the sending rate only as a share of the line rate, which is derived
from the receiving rate, given in both units. An empty cell is an unknown value.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.throughput import (
    Columns,
    Record,
    Table,
    Trial,
    has_table,
    of_tables,
    total,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Report

NAME = "ixnetwork"

_EXPECTED: Final = "expected AggregateResults.csv or iteration.csv of a QuickTest, from `Trial,Framesize,Iteration` on"
_CLOSE: Final = 0.01
_START: Final = [("trial", ""), ("framesize", ""), ("iteration", "")]


def _is_header(columns: Columns) -> bool:
    return columns.keys[:3] == _START


def _trials(table: Table) -> Iterator[Report | Reject]:
    found = list(table.records())
    records = [part for part in found if isinstance(part, Record)]
    flows = "txport" in table.columns.names
    groups = groupby(records, _identity if flows else lambda record: (record.line,))
    parts = [_trial(list(group)) for _, group in groups]
    if not table.rows:
        parts.append(Reject(table.line, "header without rows", "export the results after the test has ended"))
    faults = [part for part in found if isinstance(part, Reject)]
    yield from sorted([*parts, *faults], key=lambda part: part.line)


def _identity(record: Record) -> tuple[float | None, ...]:
    return tuple(record.number(name) for name, _ in _START)


def _trial(records: list[Record]) -> Report | Reject:
    first = records[0]
    trial = Trial("Ixia IxNetwork", first.line, "QuickTest")
    fps = _total(records, "rxthroughput", "fps")
    trial.facts |= {
        "offered_rate": _offered(records),
        "achieved_rate": fps,
        "sent": _count(records, "txcount"),
        "received": _count(records, "rxcount"),
    }
    flows = "txport" in first.columns.names
    trial.details |= {
        "direction_scope": "sum_both",
        "frame_size_bytes": first.number("framesize"),
        "iteration": first.whole("iteration"),
        "trial": first.whole("trial"),
        "received_mbit_s": _total(records, "rxthroughput", "mbps"),
    }
    if flows:
        trial.details["ports_tx"] = len({words(record.get("txport")) for record in records})
    elif (share := _number(first, "rxthroughput", "% line rate")) is not None:
        trial.details["line_rate_share"] = share / 100
    for record in records:
        label = " -> ".join(filter(None, (words(record.get("txport")), words(record.get("rxport"))))) or None
        trial.latency({name: _find(record, f"{name}latency") for name in ("min", "avg", "max")}, "ns", label)
        if record.cut is not None:
            trial.cut(record.line)
    size, mbit_s = trial.details["frame_size_bytes"], trial.details["received_mbit_s"]
    if fps is not None and size and mbit_s is not None and not math.isclose(fps * size * 8e-6, mbit_s, rel_tol=_CLOSE):
        trial.doubt(f"{fps:.15g} frames/s of {size:.15g} bytes are not {mbit_s:.15g} Mbit/s.")
    return trial.conclude()


def _offered(records: list[Record]) -> float | None:
    rates = []
    for record in records:
        share, received = _number(record, "txrate", "% line rate"), _number(record, "rxthroughput", "% line rate")
        fps = _number(record, "rxthroughput", "fps")
        if share is None or fps is None or not received:
            return None
        rates.append(fps * share / received)
    return sum(rates)


def _total(records: list[Record], name: str, unit: str) -> float | None:
    return total(_number(record, name, unit) for record in records)


def _count(records: list[Record], name: str) -> int | None:
    return total(record.whole(f"agg{name}", name, unit="frames") for record in records)


def _number(record: Record, name: str, unit: str) -> float | None:
    return record.number(f"agg{name}", name, unit=unit)


def _find(record: Record, name: str) -> object:
    return record.get(f"agg{name}", name)


sniff = partial(has_table, is_header=_is_header)
parse = of_tables(_is_header, _trials, _EXPECTED)
