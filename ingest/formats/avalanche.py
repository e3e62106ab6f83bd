"""The reader of Spirent Avalanche's `realtime.csv` and `hostStats.csv`.

realtime.csv has some lines of text, a header of more than 255 columns that begins with `Seconds Elapsed`, and a sample
every 4 s by default; columns are found by name because their positions vary. hostStats.csv has a block per VLAN:
`VLAN,<n>`, two header lines, and a line per host. 1 kbit is 1000 bit.

realtime.csv: the achieved rate is the mean incoming traffic (Mbit/s, one way) of the steady samples. hostStats.csv:
it is the sum of the HTTP goodput of all hosts (Mbit/s), for one core of one subtest only.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.text import head_text
from dropline.ingest.formats.throughput import (
    MBITS,
    Columns,
    Line,
    Record,
    Table,
    Trial,
    Unusable,
    account,
    has_table,
    mean_rate,
    number,
    rows,
    tables,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Report

NAME = "avalanche"
TOOL: Final = "Spirent Avalanche"

_EXPECTED: Final = "expected realtime.csv, with a row that begins with `Seconds Elapsed`, or hostStats.csv"
_ELAPSED: Final = ("secondselapsed", "")
_TRAFFIC: Final = ("incomingtraffic", "kbps")
_SERIES: Final = (
    ("establishedtcpconnectionrate", "connection_rate", "connections/s", None),
    ("currentestablishedtcpconnections", "concurrent_connections", "connections", None),
    ("averageresponsetimeperurl", "latency_avg", "ms", "URL response"),
    ("minimumtimetotcpsynack", "latency_min", "ms", "TCP SYN/ACK"),
    ("averagetimetotcpsynack", "latency_avg", "ms", "TCP SYN/ACK"),
    ("maximumtimetotcpsynack", "latency_max", "ms", "TCP SYN/ACK"),
)
_GOODPUT_RATE: Final = "Goodput[Http] Ave Receive Rate (bps)"
_GOODPUT: Final = "Goodput[Http] Cumulative Receive"
_BYTES: Final = "Bytes Received"
_HEADER_LINES: Final = 2


def sniff(head: bytes) -> bool:
    """Return whether `head`, the first 64 KiB of a file or all of it, is from Avalanche."""
    return _begins_with_vlan(head_text(head)) or has_table(head, _is_header)


def _read(text: bytes) -> Iterator[Report | Reject]:
    if _begins_with_vlan(text[:1000].decode("utf-8", "replace")):
        yield from _hosts(text)
        return
    for table in tables(text, _is_header):
        if table.columns.keys:  # otherwise it is the lines of text before the first header
            yield from _realtime(table)


def _is_header(columns: Columns) -> bool:
    return columns.keys[:1] == [_ELAPSED]


def _begins_with_vlan(text: str) -> bool:
    first = text.lstrip().partition("\n")[0].strip()
    return first.startswith("VLAN,") and all(part.isdigit() for part in first[5:].rstrip(",").split("/"))


def _realtime(table: Table) -> Iterator[Report | Reject]:
    trial = Trial(TOOL, table.line, "realtime", MBITS)
    traffic: list[tuple[float, float]] = []
    times: list[float] = []
    for record in table.records(trial):
        if isinstance(record, Reject):
            yield record
            continue
        if (time_s := number(record.values[0])) is None:
            reason = f"sample without a number of seconds: {record.quoted()}"
            yield Reject(record.line, reason, "it is not a sample; leave it, or export the results again")
            continue
        times.append(time_s)
        if (rate := number(record.get(_TRAFFIC[0], unit=_TRAFFIC[1]), 1e-3)) is not None:
            traffic.append((time_s, rate))
        trial.observe("incoming_traffic", rate, MBITS, None, time_s)
        for name, metric, unit, label in _SERIES:
            trial.observe(metric, record.number(name), unit, label, time_s)
    trial.facts |= {"achieved_rate": mean_rate(trial, traffic), "duration_s": max(times, default=None)}
    trial.details |= {"direction_scope": "one_way", "load_layer": None, "samples": len(times)}
    yield trial.conclude()


def _hosts(text: bytes) -> Iterator[Report | Reject]:
    trial: Trial | None = None
    vlans: list[str] = []
    headers: list[Table] = []
    unusable = 0  # the trial of an unusable line is unknown: every later one may lack it
    for row in rows(text):
        if row.cells[0] == "VLAN" and len(row.cells) > 1:
            vlan = words(row.cells[1]) or ""
            if trial and vlan in vlans:  # another file begins
                yield _hosts_together(trial)
                trial, vlans = None, []
            if trial is None:
                trial = Trial(TOOL, row.number, "hostStats", MBITS)
                if unusable:
                    trial.lack(unusable)
            vlans.append(vlan)
            headers = []
        elif trial is None or len(headers) < _HEADER_LINES:
            headers.append(Table(row.number, Columns(row.cells)))
        elif fault := _host(trial, vlans[-1], headers[-1], row):
            trial.lack(row.number)
            unusable = unusable or row.number
            yield fault
    if trial:
        yield _hosts_together(trial)


def _hosts_together(trial: Trial) -> Report | Reject:
    rates = [value for metric, _, _, value, _ in trial.observations if metric == "goodput"]
    if rates:
        trial.facts["achieved_rate"] = sum(rates)
    trial.details |= {"direction_scope": "one_way", "load_layer": "goodput", "hosts": len(rates)}
    trial.facts["protocol"] = "HTTP"
    trial.warnings.append("Each core of a subtest has its own file: the whole rate is the sum of all of them.")
    return trial.conclude()


def _host(trial: Trial, vlan: str, table: Table, row: Line) -> Reject | None:
    """Add the goodput of one host: cumulative, in bits, although the received count is in bytes."""
    label = f"VLAN {vlan}"
    try:
        record = table.record(row)
    except Unusable as fault:
        return Reject(row.number, fault.reason, fault.hint)
    if (rate := _cell(record, _GOODPUT_RATE)) is None:
        return Reject(row.number, f"host of {label} without `{_GOODPUT_RATE}`", "export the statistics of HTTP")
    if record.cut is not None:
        trial.cut(row.number)
    bits, received = _cell(record, _GOODPUT), _cell(record, _BYTES)
    trial.observe("goodput", rate / 1e6, MBITS, label)
    trial.observe("goodput_bits", bits, "bit", label)
    trial.observe("received_bytes", received, "bytes", label)
    if rate and bits:
        trial.facts["duration_s"] = max(trial.facts["duration_s"] or 0.0, round(bits / rate, 3))
    if bits and received is not None and bits > 8 * received:
        trial.warnings.append(f"{label} has more goodput than bytes: {bits:.15g} bit of {received:.15g} bytes.")
    return None


def _cell(record: Record, caption: str) -> float | None:
    (key,) = Columns([caption]).keys
    return number(record.get(key[0], unit=key[1]))


parse = partial(account, read=_read, expected=_EXPECTED)
