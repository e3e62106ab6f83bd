"""Reader of Spirent TestCenter's result views: exported grids, and views printed in fixed width.

A view shows one moment of an execution, without time or duration, as a row per stream or port. sent, received and
dropped are totals of frames; `Dropped Frame Count` counts gaps in sequence numbers and may exceed these. Latencies
become observations in ms with the stream as label. A view of DHCP clients has sessions instead: those that tried to get
a lease, those that got one, and the others; its rates are as the tester measured them.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from dropline.ingest.formats import Parts, Reject, throughput
from dropline.ingest.formats.testcenter_csv import TOOL
from dropline.ingest.formats.text import either, in_head, lines, words

NAME = "testcenter_views"

_EXPECTED: Final = "expected a view of TestCenter, from the line of its captions on"
_SENT: Final = ("txcount", "txframecount")
_PORT_SENT: Final = ("generatorsigcount", "generatorcount", "totaltxcount")
_RECEIVED: Final = ("rxcount", "rxsigcount", "sigcount", "rxframecount")
_PORT_RECEIVED: Final = ("rxsigcount", "totalrxcount")
LEASES: Final = ("DHCP sessions", "leases/s")  # test, and unit of its rates
_CLIENTS: Final = frozenset({"port", "portname", "block", "blockname", "device", "devicename", "hostblock", "name"})
_ATTEMPTED: Final = ("totalattemptcount", "totalattempted")
_BOUND: Final = ("totalboundcount", "totalbound")
_STREAM: Final = ("streamblock", "streamblockname")
_TOTALS: Final = re.compile(
    r"(?:grand )?totals?\b\W*(?:\(.*\))?|sum(?:me)?|gesamt\w*|aggregated?|all (?:ports|blocks|devices|streams)",
    re.IGNORECASE,
)
_GAP: Final = re.compile(r" {2,}")
_RULE: Final = re.compile(r"-{20,}")
_PRINTED: Final = re.compile(r"(?:\A|[\r\n])(?:Tx )?Port(?: Names?)? {2,}[^\r\n]*(?:Tx Count|Total Tx)")


def _read(text: bytes) -> Parts:
    printed = bool(_PRINTED.search(text[:65536].decode("utf-8", "replace")))
    for table in _printed_tables(text) if printed else throughput.tables(text, _is_view):
        if table.columns.keys:
            yield from _view(table)
        elif not printed or len(table.rows) > 1:  # a printed view has its title above it
            yield from throughput.stray(table, _EXPECTED)


def _is_view(columns: throughput.Columns) -> bool:
    names = columns.names
    streams = bool(names & set(_STREAM) and names & set(_SENT) and names & set(_RECEIVED))
    first = columns.keys[0][0] if columns.keys else ""
    return streams or (first == "portname" and "totaltxcount" in names) or (first in _CLIENTS and has_leases(columns))


def has_leases(columns: throughput.Columns) -> bool:
    """Return whether rows are for the DHCP clients of a port, block or device."""
    return bool(columns.names & set(_ATTEMPTED) and columns.names & set(_BOUND))


def _printed_tables(text: bytes) -> Iterator[throughput.Table]:
    """Yield each fixed-width table, with two or more blanks between captions and between values."""
    table = throughput.Table(1, throughput.Columns(()))
    for number, line, _ in lines(text):
        cells = _GAP.split(line)
        if _PRINTED.match(line):
            yield table
            table = throughput.Table(number, throughput.Columns(cells))
        elif not _RULE.fullmatch(line):
            # Trailing blanks are stripped, so a truncated line cannot be detected.
            table.rows.append(throughput.Line(number, cells, True))
    yield table


def _view(table: throughput.Table) -> Parts:
    leases, streams = has_leases(table.columns), bool(table.columns.names & set(_STREAM))
    kind = LEASES if leases else ("stream view",) if streams else ("port view",)
    trial = throughput.Trial(TOOL, table.line, *kind)
    sent = _ATTEMPTED if leases else _SENT if streams else _PORT_SENT
    records: list[throughput.Record] = []
    seen: set[tuple[object, ...]] = set()
    found, faults = table.records(trial)
    for record in found:
        if len(found) > 1 and _TOTALS.fullmatch(str(record.values[0]).rstrip(": ")):
            continue
        if streams and tuple(record.values) in seen:
            trial.lack(record.line)
            faults.append(Reject(record.line, f"repeated stream: {record.quoted}", "export the view again"))
        elif record.whole(*sent) is None or not (record.words(*_STREAM) if streams else record.values[0]):
            trial.lack(record.line)
            reason = f"row without a name or a count of sent frames: {record.quoted}"
            hint = "it is not a stream or port; remove it, or export the view again"
            faults.append(Reject(record.line, reason, hint))
        else:
            seen.add(tuple(record.values))
            records.append(record)
    yield from sorted(faults, key=lambda fault: fault.line)
    if not records:
        yield Reject(table.line, "view without rows", "export the view again, after the traffic has run")
        return
    (count_leases if leases else partial(_sum_up, streams=streams))(trial, records)
    for record in records if streams else ():
        label = record.words(*_STREAM)
        if record.whole(*_RECEIVED):
            trial.latency(record, "us", label)
        trial.observe("dropped_by_sequence", record.whole("droppedcount", "droppedframecount"), "frames", label)
    yield trial.conclude()


def count_leases(trial: throughput.Trial, records: list[throughput.Record]) -> None:
    """Add the sessions of all DHCP clients to their trial."""
    shown = " ".join(records[0].columns.names)
    trial.facts |= {
        "method": trial.test,
        "protocol": "DHCPv6" if "solicit" in shown else "DHCPv4" if "discover" in shown else trial.facts["protocol"],
        "offered_rate": throughput.total(record.number("attemptrate") for record in records) or None,
        "achieved_rate": throughput.total(record.number("bindrate") for record in records) or None,
        "sent": throughput.total(record.whole(*_ATTEMPTED) for record in records),
        "received": throughput.total(record.whole(*_BOUND) for record in records),
    }
    trial.details["counted"] = "sessions"
    for record in records:
        if record.whole(*_ATTEMPTED):
            trial.latency(record, "ms", words(record.values[0]), names="{0}setuptime", measure="setup_time")
        if trying := record.whole("currentattemptcount", "currentlyattempting"):
            trial.doubt(f"{trying} sessions were still trying to get a lease: these figures are not final.")


def _sum_up(trial: throughput.Trial, records: list[throughput.Record], *, streams: bool) -> None:
    sides = (_SENT, _RECEIVED) if streams else (_PORT_SENT, _PORT_RECEIVED)
    pairs = [(record.whole(*sides[0]) or 0, record.whole(*sides[1])) for record in records]
    trial.facts["sent"] = sum(sent for sent, _ in pairs)
    trial.facts["received"] = throughput.total(received for _, received in pairs)
    if streams and trial.facts["received"] is not None:
        # A stream with duplicates must not offset another stream's loss.
        trial.facts["dropped"] = sum(max(sent - (received or 0), 0) for sent, received in pairs)
    for fact, name in (("offered_rate", "txrate"), ("achieved_rate", "rxrate")):
        trial.facts[fact] = throughput.total(record.number(name, unit="fps") for record in records)
    port = "txport" if "txport" in records[0].columns.names else "txportname" if streams else "portname"
    ports = {record.get(port) for record in records if record.whole(*sides[0])}
    trial.details |= {"direction_scope": "sum_both", "ports_tx": len(ports)}
    trial.details["streams" if streams else "ports"] = len(records)
    for side in ("tx", "rx"):
        for layer, names in (("l1", (f"{side}l1count",)), ("l2", (f"{side}count", f"total{side}count"))):
            if (bits := throughput.total(record.whole(*names, unit="bits") for record in records)) is not None:
                trial.details[f"{side}_{layer}_bits"] = bits


sniff = either(partial(throughput.has_table, is_header=_is_view), in_head(_PRINTED.search))
parse = throughput.accounted(_read, _EXPECTED)
