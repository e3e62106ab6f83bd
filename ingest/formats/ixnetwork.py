"""Reader of Ixia IxNetwork's QuickTest results: AggregateResults.csv, a row per trial, and iteration.csv.

iteration.csv has a row per flow: the rows of one trial, frame size and iteration are one trial here. Captions begin
with `Agg` in some versions. Latencies are nanoseconds, even if the caption has `(n)`. Rates are frames/s of all flows.
The sending rate, printed only as a share of the line rate, follows from the receiving rate, printed in both units.
"""

import math
from itertools import groupby
from typing import Final

from dropline.ingest.formats import Parts, Reject, Report
from dropline.ingest.formats.throughput import Record, Table, Trial, of_tables, several_trials, total

NAME = "ixnetwork"

_EXPECTED: Final = "expected AggregateResults.csv or iteration.csv of a QuickTest, from `Trial,Framesize,Iteration` on"
_CLOSE: Final = 0.01
_NUMBERS: Final = ("trial", "framesize", "iteration")


def _trials(table: Table) -> Parts:
    records, faults = table.records()
    is_by_flow = "txport" in table.columns.names
    groups = groupby(records, lambda each: (*map(each.number, _NUMBERS),) if is_by_flow else (each.line,))
    several = several_trials(record.get("trial") for record in records)
    parts = [*faults, *(_trial(list(group), several=several) for _, group in groups)]
    if not table.rows:
        parts.append(Reject(table.line, "header without rows", "export the results after the test has ended"))
    yield from sorted(parts, key=lambda part: part.line)


def _trial(records: list[Record], *, several: bool) -> Report | Reject:
    first = records[0]
    trial = Trial("Ixia IxNetwork", first.line, "QuickTest")
    fps = total(_number(record, "rxthroughput", "fps") for record in records)
    size, mbit_s = first.number("framesize"), total(_number(record, "rxthroughput", "mbps") for record in records)
    trial.facts |= {
        "offered_rate": total(map(_offered, records)),
        "achieved_rate": fps,
        "sent": total(record.whole("aggtxcount", "txcount", unit="frames") for record in records),
        "received": total(record.whole("aggrxcount", "rxcount", unit="frames") for record in records),
    }
    trial.details |= {
        "direction_scope": "sum_both",
        "frame_size_bytes": size,
        "iteration": first.whole("iteration"),
        "received_mbit_s": mbit_s,
    }
    trial.repeat(first.whole("trial"), several=several)
    if "txport" in first.columns.names:
        trial.details["ports_tx"] = len({record.words("txport") for record in records})
    elif (share := _number(first, "rxthroughput", "% line rate")) is not None:
        trial.details["line_rate_share"] = share / 100
    for record in records:
        label = " -> ".join(filter(None, (record.words("txport"), record.words("rxport")))) or None
        trial.latency(record, "ns", label, names="agg{0}latency {0}latency")
        if record.cut is not None:
            trial.cut(record.line)
    if fps is not None and size and mbit_s is not None and not math.isclose(fps * size * 8e-6, mbit_s, rel_tol=_CLOSE):
        trial.doubt(f"{fps:.15g} frames/s of {size:.15g} bytes are not {mbit_s:.15g} Mbit/s.")
    return trial.conclude()


def _offered(record: Record) -> float | None:
    share, received = _number(record, "txrate", "% line rate"), _number(record, "rxthroughput", "% line rate")
    fps = _number(record, "rxthroughput", "fps")
    return None if share is None or fps is None or not received else fps * share / received


def _number(record: Record, name: str, unit: str) -> float | None:
    return record.number(f"agg{name}", name, unit=unit)


sniff, parse = of_tables(lambda columns: columns.names.issuperset(_NUMBERS), _trials, _EXPECTED)
