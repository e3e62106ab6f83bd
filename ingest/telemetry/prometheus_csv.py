"""Reader of metrics exported as CSV by Grafana or from the Prometheus API.

Grafana exports a wide table: `Time`, then a column per series, headed by its `name{label="value"}` or its legend; a
table with series in rows has `Series`, `Time` and `Value`. Scripts for the HTTP API, and VictoriaMetrics, write a long
table: name, labels, timestamp and value in any order. The last row may lack its newline. Times are ms since 1970, or
have a zone; those of "Formatted data" have none and are rejected. Metric, label and host are as in `prometheus`; a
legend becomes the metric. Empty cells and NaN are skipped.
"""

import re
from datetime import datetime
from typing import Final, NamedTuple

from dropline.ingest.formats import Reject
from dropline.ingest.formats.text import head_text, instant, quote, real
from dropline.ingest.telemetry import Found, Sample
from dropline.ingest.telemetry.prometheus import NO_NUMBER, UNNAMED, labelled, series, unit
from dropline.ingest.telemetry.samples import accounted, first_rows, rows

NAME = "prometheus_csv"

_EXPECTED: Final = "expected a row for each time, below a head with `Time`, or with name, timestamp and value"
_FORMATTED: Final = "switch off `Formatted data` and export it again, or write times with their zone (...T12:00:00Z)"
_NAMES: Final = frozenset({"name", "__name__", "metric", "series"})
_TIMES: Final = frozenset({"time", "timestamp", "__time__", "__timestamp__"})
_VALUES: Final = frozenset({"value", "__value__"})
_ABSENT: Final = frozenset({"", "null", "undefined", *NO_NUMBER})
_TIME: Final = re.compile(r"\d{9,19}(?:\.\d+)?|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d.*)?", re.ASCII)
_WITH_UNIT: Final = re.compile(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*([^\d\s.][^\d]{0,20})", re.ASCII)


class _Head(NamedTuple):
    """Columns of a table: their names, and the positions of those that are not labels."""

    cells: list[str]
    time: int
    value: int | None  # None in a wide table, in which each column after the first is a series
    name: int | None = None
    series: tuple[tuple[str, str | None, str | None], ...] = ()  # metric, label, host


def sniff(head: bytes) -> bool:
    """Return whether `head`, the first 64 KiB of a file or all of it, is such a table."""
    found = first_rows(head_text(head), 2)
    columns = _head(found[0]) if len(found) == 2 else None
    return bool(columns and len(found[1]) == len(found[0]) and _TIME.fullmatch(found[1][columns.time]))


def _read(text: bytes) -> Found:
    head = None
    for part in rows(text.decode("utf-8", "replace")):
        if isinstance(part, Reject):
            yield part
            continue
        line, cells = part
        if found := _head(cells):
            head = found
        elif not head or len(cells) != len(head.cells):
            yield Reject(line, f"not a row of the table above it: {quote(','.join(cells))}", _EXPECTED)
        elif at := instant(cells[head.time]):
            yield from _row(line, at, head, cells)
        else:
            what = "a time without its zone" if _TIME.fullmatch(cells[head.time]) else "not a time"
            yield Reject(line, f"{what}: {quote(cells[head.time])}", _FORMATTED)


def _head(cells: list[str]) -> _Head | None:
    """Parse a row of names; return None for any other row."""
    names = [cell.lower() for cell in cells]
    time, value, name = (
        next((place for place, cell in enumerate(names) if cell in known), None) for known in (_TIMES, _VALUES, _NAMES)
    )
    if time is None or len(names) < 2:
        return None
    distinct = len(set(names)) == len(names)
    if value is not None and name is not None:
        return _Head(cells, time, value, name) if distinct else None
    if cells[0] != "Time":
        return None
    # A table of one query has its labels as columns; a single Value column is a series of that name.
    if distinct and value == len(names) - 1 > 1:
        return _Head(cells, time, value)
    return _Head(cells, 0, None, series=tuple(series(cell) or (cell or UNNAMED, None, None) for cell in cells[1:]))


def _row(line: int, at: datetime, head: _Head, cells: list[str]) -> Found:
    samples = zip(head.series, cells[1:], strict=False)  # in a wide table
    if head.value is not None:
        name = cells[head.name] if head.name is not None else UNNAMED
        others = {head.time, head.value, head.name}
        labels = {head.cells[place]: cell for place, cell in enumerate(cells) if cell and place not in others}
        samples = zip([series(name) or labelled(labels | {"__name__": name})], [cells[head.value]], strict=True)
    for (metric, label, host), cell in samples:
        if cell.lower() in _ABSENT:
            continue
        match = _WITH_UNIT.fullmatch(cell)
        value = real(match[1] if match else cell)
        if value is None:
            yield Reject(line, f"not a value: {quote(cell)} of {quote(metric)}", _EXPECTED)
        else:
            yield Sample(at, metric, value, match[2].strip() if match else unit(metric), label, host)


parse = accounted(_read, _EXPECTED)
