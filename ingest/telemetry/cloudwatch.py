"""Reader of Amazon CloudWatch's metrics: the JSON of GetMetricData and GetMetricStatistics, and the console's CSV.

The CSV has the data of a graph: rows that describe the columns, first `Full label`, then a row per time, in UTC. The
metric is `cloudwatch.<label>`; a sample's label is the statistic (`Average`, `p99`), else the id of the series (`m1`).
"""

import re
from datetime import datetime
from typing import Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.json_documents import Node, in_documents
from dropline.ingest.formats.text import head_text, instant, mapping, quote, real, words
from dropline.ingest.telemetry import Found, Sample
from dropline.ingest.telemetry.samples import accounted, first_rows, rows

NAME = "cloudwatch"
IN_JSON = ('"MetricDataResults"', '"Datapoints"')

_EXPECTED: Final = "expected the JSON of `aws cloudwatch get-metric-data`, or the CSV of a graph in the console"
_JSON: Final = re.compile(r'\s*\{\s*"(?:MetricDataResults|Messages|NextToken|Label|Datapoints)"\s*:')
_TITLE: Final = "Full label"
_TIME: Final = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?", re.ASCII)
_STATISTICS: Final = ("SampleCount", "Average", "Sum", "Minimum", "Maximum")
_UNITS: Final = {
    "Percent": "%",
    "Bytes": "bytes",
    "Seconds": "s",
    "Milliseconds": "ms",
    "Microseconds": "us",
    **dict.fromkeys(("Count", "None", "No unit", "")),
}


def sniff(head: bytes) -> bool:
    """Return whether `head`, the first 64 KiB of a file or all of it, holds CloudWatch metrics."""
    text = head_text(head)
    if _JSON.match(text):
        return any(name in text for name in IN_JSON)
    return _TITLE in text and any(row[0] == _TITLE for row in first_rows(text, 1))


def _document(line: int, answer: Node) -> Found:
    for point in answer.items("Datapoints"):
        yield from _point(line, words(answer.get("Label")), point)
    for result in answer.items("MetricDataResults"):
        yield from _result(line, result)


def _point(line: int, metric: str | None, point: Node) -> Found:
    at, values = point.instant("Timestamp"), mapping(point.value)
    given = {name: values[name] for name in _STATISTICS if name in values} | mapping(point.get("ExtendedStatistics"))
    values = {name: real(value) for name, value in given.items()}
    if not at or not metric or not values or None in values.values():
        reason = f"not a data point: {quote(str(point.value))}"
        yield Reject(line, reason, "expected a time with its zone, and statistics")
        return
    for name, value in values.items():
        if value is not None:
            # A sample count has no unit, whatever is sampled.
            unit = None if name == "SampleCount" else _unit(words(point.get("Unit")) or "")
            yield Sample(at, f"cloudwatch.{metric}", value, unit, words(name))


def _result(line: int, result: Node) -> Found:
    name, label = words(result.get("Label")), words(result.get("Id"))
    times, values = result.values("Timestamps"), result.values("Values")
    for time, number in zip(times, values, strict=False):
        at, value = instant(time), real(number)
        if at and name and value is not None:
            yield Sample(at, f"cloudwatch.{name}", value, None, label)
        else:
            reason = f"not a time and a value: {quote(str([time, number]))} of {quote(str(label))}"
            yield Reject(line, reason, "expected a time with its zone, and a number")
    status = result.get("StatusCode")
    if len(times) != len(values) or status not in {"Complete", None}:
        reason = f"{len(times)} times and {len(values)} values of {quote(str(label))}, status {quote(str(status))}"
        yield Reject(line, reason, "repeat the call until it is Complete; the values that are there are kept")


def _read(text: bytes) -> Found:
    if text[:100].lstrip().startswith(b"{"):
        yield from in_documents(text, _document)
        return
    about: dict[str, list[str]] = {}
    begun = False
    for part in rows(text.decode("utf-8", "replace")):
        if isinstance(part, Reject):
            yield part
            continue
        line, cells = part
        if cells[0] == _TITLE:
            about, begun = {_TITLE: cells}, False
        elif at := instant(cells[0].replace("/", "-") + "+00:00" if _TIME.fullmatch(cells[0]) else cells[0]):
            begun = True
            yield from _row(line, at, about, cells)
        elif about and not begun:
            about[cells[0]] = cells
        else:
            yield Reject(line, f"not a row of a table: {quote(','.join(cells))}", _EXPECTED)


def _row(line: int, at: datetime, about: dict[str, list[str]], cells: list[str]) -> Found:
    for place, cell in enumerate(cells[1:], 1):
        texts = {name: column[place] for name, column in about.items() if place < len(column)}
        metric, value = texts.get("Label") or texts.get(_TITLE), real(cell)
        if metric and value is not None:
            yield Sample(at, f"cloudwatch.{metric}", value, _unit(texts.get("Unit", "")), texts.get("Id") or None)
        elif cell:
            yield Reject(line, f"not a value below a label: {quote(cell)}", _EXPECTED)


def _unit(printed: str) -> str | None:
    return _UNITS.get(printed, printed)


parse = accounted(_read, _EXPECTED)
