"""Reader of PowerDNS's counters, from any of three sources (Authoritative Server manual, "Statistics").

`pdns_control show '*'` prints one line, `name=value,...,`, `list` and `rec_control get-all` a line per counter; none
has a time. A poller of the HTTP API writes one JSON object per line: `utc` and the counters, or `utc` and `error`. The
API returns a JSON array; its RingStatisticItems, which describe the queries, are skipped.

The metric is `pdns.<name>`, for a failed poll `pdns.unreachable` with the value 1 and the error as label. The label of
an entry of a MapStatisticItem is its name: a query type, a response code, a size.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.json_documents import Node, in_documents
from dropline.ingest.formats.text import head_text, instant, items, json_object, mapping, quote, real, words
from dropline.ingest.telemetry import Found, Sample
from dropline.ingest.telemetry.samples import accounted, each_line

NAME = "pdns"
IN_JSON = ('StatisticItem"', '"utc"')

_EXPECTED: Final = "expected the answer of `pdns_control show '*'`, of the statistics API, or JSON lines with `utc`"
_PAIR: Final = re.compile(r"([a-z][a-z0-9-]*)[=\t](-?\d{1,18}(?:\.\d{1,9})?)", re.ASCII)
_SHOWN: Final = re.compile(rf"\s*(?:{_PAIR.pattern}[,\r\n]+){{5}}", re.ASCII)
_QUERIES: Final = re.compile(r"\b(?:udp-queries|questions)[=\t]")
_ARRAY: Final = re.compile(r'\s*\[\s*\{[^{}\[\]]*"type"\s*:\s*"(?:Map|Ring)?StatisticItem"')
_UNITS: Final = {"real-memory-usage": "bytes", "uptime": "s", "user-msec": "ms", "sys-msec": "ms"}


def sniff(head: bytes) -> bool:
    """Return whether `head`, the first 64 KiB of a file or all of it, holds PowerDNS counters."""
    text = head_text(head)
    if _SHOWN.match(text):
        return _QUERIES.search(text) is not None
    row = json_object("".join(text.lstrip().partition("\n")[0].splitlines()[:1])) or {}
    is_poll = "utc" in row and ("udp-queries" in row or row.keys() == {"utc", "error"})
    return is_poll or _ARRAY.match(text) is not None


def unit(name: str) -> str | None:
    """Return the unit of a PowerDNS counter according to the manual; None for a count."""
    return "us" if name.endswith("latency") else "bytes" if name.endswith("-bytes") else _UNITS.get(name)


def _read(text: bytes) -> Found:
    begin = text[:100].lstrip()
    if begin.startswith(b"["):
        return in_documents(text, _statistics)
    if begin.startswith(b"{"):
        return each_line(text, _poll, "expected a JSON object with `utc` and counters or `error`")
    return _shown(text)


def _shown(text: bytes) -> Found:
    for number, line in enumerate(text.decode("utf-8", "replace").splitlines(keepends=True), 1):
        *pairs, last = line.split(",")  # each value ends with a comma, unless the text was edited
        whole = last != last.rstrip("\r\n")
        for pair in filter(str.strip, [*pairs, last] if whole else pairs):
            if match := _PAIR.fullmatch(pair.strip()):
                yield _sample(None, match[1], float(match[2]))
            else:
                yield Reject(number, f"not understood: {quote(pair)}", _EXPECTED)
        if last and not whole:
            yield Reject(number, f"the last value is cut off: {quote(last)}", "copy the whole file again")


def _poll(line: str) -> Iterator[Sample] | None:
    row = json_object(line) or {}
    at = instant(row.pop("utc", None))
    if not at:
        return None
    if "error" in row:
        return iter([Sample(at, "pdns.unreachable", 1.0, None, words(row["error"]))])
    values = {str(words(name)): real(value) for name, value in row.items()}
    if not values or None in values.values():
        return None
    return (_sample(at, name, value) for name, value in values.items() if value is not None)


def _statistics(line: int, document: Node) -> Found:
    for item in map(mapping, items(document.value)):
        name, kind = words(item.get("name")), item.get("type")
        if kind == "RingStatisticItem":
            continue
        entries = items(item.get("value")) if kind == "MapStatisticItem" else [{"value": item.get("value")}]
        for entry in map(mapping, entries):
            value = real(entry.get("value"))
            if name is None or value is None:
                yield Reject(line, f"not a counter: {quote(str(item))}", "expected a name and a number")
            else:
                yield _sample(None, name, value, words(entry.get("name")))


def _sample(at: datetime | None, name: str, value: float, label: str | None = None) -> Sample:
    return Sample(at, f"pdns.{name}", value, unit(name), label)


parse = accounted(_read, _EXPECTED)
