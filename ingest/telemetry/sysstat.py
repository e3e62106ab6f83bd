"""Reader of `sadf -j`, sar's records exported as JSON (man sadf(1), sar(1); sysstat 10.0.3 and later).

Each host has a list of statistics with a timestamp and sections: an object of fields, a list of objects (one per CPU,
interface or disk), or nested sections. The metric is `sar.<section>.<field>`; the label identifies the object (`all`,
`eth0`), the host is the node's name. Percentages remain 0..100.

Up to 12.6, a timestamp has `utc` 1 or 0, later `tz` with the name of the zone. Statistics in local time are rejected,
as are those of `iostat -o JSON` and `mpstat -o JSON`, as their zone is ambiguous or missing.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any, Final

from dropline.ingest.formats import Reject, Row
from dropline.ingest.formats.json_documents import Node, in_documents
from dropline.ingest.formats.text import in_head, instant, items, mapping, quote, real, words
from dropline.ingest.telemetry import Found, Sample
from dropline.ingest.telemetry.samples import accounted

NAME = "sysstat"
IN_JSON = ('"sysstat"',)

_EXPECTED: Final = "expected the JSON of `sadf -j`, with sysstat, hosts and statistics"
_BEGIN: Final = re.compile(r'\s*\{\s*"sysstat"\s*:\s*\{\s*"(?:sysdata-version|hosts)"')
_IDENTIFIERS: Final = frozenset({"number", "line", "bus_number"})  # numbers that identify the object, as texts do
_CLOCK_NAMES: Final = frozenset({"UTC", "GMT"})
_UNITS: Final = {
    "cpu-load": "%",
    "cpu-load-all": "%",
    "memory": "kB",
    **dict.fromkeys(("net-dev", "net-edev", "net-udp", "net-udp6", "softnet"), "packets/s"),
}
_COUNTS: Final = frozenset({"blg_len"})


def _hosts(line: int, document: Node) -> Found:
    for host in document.items("sysstat.hosts"):
        name, local, last = words(host.get("nodename")), 0, None
        for statistics in map(mapping, host.values("statistics")):
            printed = statistics.get("timestamp")
            stamp = mapping(printed)
            is_utc = stamp.get("utc") == 1 or str(stamp.get("tz")) in _CLOCK_NAMES
            clock = str(stamp.get("time")).replace("-", ":")
            if is_utc and (at := instant(f"{stamp.get('date')}T{clock}+00:00")):
                yield from _sections(at, name, statistics)
            else:
                local, last = local + 1, printed
        if local:
            reason = f"{local} statistics of {quote(str(name))} have no time in UTC, the last one {quote(str(last))}"
            yield Reject(line, reason, "export what sar recorded with `sadf -j`, without -T and -t")


def _sections(at: datetime, host: str | None, statistics: Row) -> Iterator[Sample]:
    pending = [(name, value) for name, value in reversed(statistics.items()) if name != "timestamp"]
    while pending:
        section, value = pending.pop()
        inner = []
        for row in map(mapping, items(value) or [value]):
            label = words(" ".join(str(cell) for field, cell in row.items() if _identifies(field, cell)))
            for field, cell in row.items():
                if isinstance(cell, dict | list):
                    inner.append((field, cell))
                elif field not in _IDENTIFIERS and (number := real(cell)) is not None:
                    unit = None if field in _COUNTS else _UNITS.get(section)  # if sar(1) is unambiguous
                    unit = "kB/s" if section == "net-dev" and field.endswith("kB") else unit
                    unit = "%" if field.endswith("-percent") else unit
                    yield Sample(at, words(f"sar.{section}.{field}") or "", number, unit, label, host)
        pending += reversed(inner)


def _identifies(field: str, cell: Any) -> bool:
    return isinstance(cell, str) or (field in _IDENTIFIERS and real(cell) is not None)


sniff = in_head(_BEGIN.match)
parse = accounted(partial(in_documents, read=_hosts), _EXPECTED)
