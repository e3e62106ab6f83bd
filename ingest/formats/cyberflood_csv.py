"""The reader of the `<name>_Detailed.csv` of Spirent's cf-netsecopen-tests.

One row per poll of a run, with the client's totals and rates: bandwidth in kbit/s, times in ms. Its client_cpu and
server_cpu are those of the tester. The `load_type` is the target quantity of a run.

The rate is the mean of the steady polls in the unit of the load: Mbit/s received by the client, connections/s or
transactions/s. sent, received and dropped are transactions.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.cyberflood import TOOL
from dropline.ingest.formats.throughput import (
    CONNECTIONS,
    MBITS,
    TRANSACTIONS,
    Columns,
    Record,
    Table,
    Trial,
    has_table,
    mean_rate,
    of_tables,
    total,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Report

NAME = "cyberflood_csv"

_EXPECTED: Final = "expected <name>_Detailed.csv, from `test_name,seconds,state,current_load` on"
_COLUMNS: Final = frozenset({"testname", "seconds", "currentload", "desiredload", "tps", "cps", "rxbandwidth"})
# A word in the load or test type -> the column of its rate, the unit and the conversion factor.
_RATES: Final = (
    (re.compile("bandwidth|throughput|tput"), "rxbandwidth", MBITS, 1e-3),
    (re.compile("connections/s|cps"), "cps", CONNECTIONS, 1.0),
    (re.compile(""), "tps", TRANSACTIONS, 1.0),
)
_BEYOND: Final = 2  # times the desired load: no generator overshoots this far
_SERIES: Final = (
    ("rxbandwidth", "incoming_traffic", MBITS, 1e-3, None),
    ("txbandwidth", "outgoing_traffic", MBITS, 1e-3, None),
    ("tps", "transaction_rate", TRANSACTIONS, 1.0, None),
    ("cps", "connection_rate", CONNECTIONS, 1.0, None),
    ("openconns", "concurrent_connections", "connections", 1.0, None),
    ("urlresponsetime", "latency_avg", "ms", 1.0, "URL response"),
    ("tcpavgttsynack", "latency_avg", "ms", 1.0, "TCP SYN/ACK"),
    ("tcpavgttfb", "latency_avg", "ms", 1.0, "TCP first byte"),
    ("clientcpu", "generator_cpu", "%", 1.0, "client"),
    ("servercpu", "generator_cpu", "%", 1.0, "server"),
)


def _runs(table: Table) -> Iterator[Report | Reject]:
    runs: dict[str, list[Record]] = {}
    lacking: list[int] = []
    for record in table.records():
        if isinstance(record, Reject):
            yield record
            lacking.append(record.line)
        else:
            runs.setdefault(words(record.get("runid", "testname")) or "", []).append(record)
    if not runs:
        yield Reject(table.line, "header without polls", "keep the file until the run has ended")
    for records in runs.values():
        yield _trial(records, lacking)


def _is_header(columns: Columns) -> bool:
    return columns.names >= _COLUMNS


def _trial(records: list[Record], lacking: list[int]) -> Report | Reject:
    last = records[-1]
    kinds = [words(last.get(name)) for name in ("loadtype", "testtypev2", "testtypev1", "testname")]
    kind = " ".join(filter(None, kinds)).lower()
    column, unit, scale = next((column, unit, scale) for word, column, unit, scale in _RATES if word.search(kind))
    trial = Trial(TOOL, records[0].line, words(last.get("loadtype", "testtypev1")) or "netsecopen", unit)
    rates: list[tuple[float, float]] = []
    for place, record in enumerate(records):
        time_s = record.number("seconds")
        rate = record.number(column)
        if rate is not None:
            rates.append((float(place) if time_s is None else time_s, rate * scale))
        for name, metric, series_unit, factor, label in _SERIES:
            value = record.number(name)
            trial.observe(metric, None if value is None else value * factor, series_unit, label, time_s)
        if record.cut is not None:
            trial.cut(record.line)
    for line in lacking[:1]:  # the poll it belongs to is unknown
        trial.lack(line)
    desired = max((load for r in records if (load := r.number("desiredload")) is not None), default=None)
    fastest = max((rate for _, rate in rates), default=0.0)
    if desired and unit == CONNECTIONS and fastest > _BEYOND * desired:
        trial.doubt(f"A poll shows {fastest:.15g} connections/s where {desired:.15g} were desired.")
    passed, failed = last.whole("successfultxn"), [last.whole(f"{name}txn") for name in ("unsuccessful", "aborted")]
    trial.facts |= {"received": passed, "achieved_rate": mean_rate(trial, rates)}
    if passed is not None and (dropped := total(failed)) is not None:
        trial.facts |= {"sent": passed + dropped, "dropped": dropped}
    trial.facts["tool_version"] = words(last.get("version"))
    trial.facts["duration_s"] = last.number("seconds")
    trial.details |= {
        "counted": "transactions",
        "desired_load": desired,
        "direction_scope": "one_way" if unit == MBITS else None,
        "load_layer": "L2 without FCS" if unit == MBITS else None,
        "run": words(last.get("runid")),
        "state": words(last.get("state")),
        "test": words(last.get("testname")),
    }
    return trial.conclude()


sniff = partial(has_table, is_header=_is_header)
parse = of_tables(_is_header, _runs, _EXPECTED)
