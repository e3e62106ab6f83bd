"""Tables, named values and trials, shared by the readers of throughput tools."""

import csv
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice
from statistics import fmean, median
from typing import Final, NamedTuple, TypeVar

from dropline.ingest.formats import Parse, Parts, Reject, Report, Sniff, text
from dropline.ingest.formats.draft import Draft
from dropline.ingest.formats.text import HEAD_BYTES, count, lines, parts, quote, unpack, without_runs_of_rejects, words

MAX_TABLE_BYTES: Final = 32 * 1024 * 1024  # of a text whose cells are held in memory
FRAMES: Final = "frames/s"
MBITS: Final = "Mbit/s"
CONNECTIONS: Final = "connections/s"
TRANSACTIONS: Final = "transactions/s"

# Milliseconds per unit as printed: IxNetwork writes `n`, a TestCenter database writes none.
_MS_PER: Final = {
    **{"ns": 1e-6, "n": 1e-6, "us": 1e-3, "usec": 1e-3, "": 1e-3, "ms": 1.0, "msec": 1.0, "s": 1e3, "sec": 1e3},
    "min": 6e4,
}
_EXTREMES: Final = {"min": "minimum", "avg": "average", "max": "maximum"}
_DECIMAL_COMMA: Final = re.compile(r"[+-]?\d[\d.]*,\d+", re.ASCII)
# Numbers whose comma cannot separate thousands, and those whose comma may, if the table's separator is a semicolon.
_PLAIN_COMMA: Final = re.compile(r"[+-]?(?:0,\d+|\d+,(?!\d{3}\Z)\d+|\d{4,},\d+|[\d.]*\.\d{3},\d+)", re.ASCII)
_PLAIN_POINT: Final = re.compile(r"[+-]?(?:0\.\d+|\d+\.(?!\d{3}\Z)\d+|\d{4,}\.\d+)", re.ASCII)
_THOUSANDS: Final = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+", re.ASCII)
_LARGE: Final = re.compile(r"\d{4,}", re.ASCII)
_POINTS: Final = re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?", re.ASCII)
_GAP: Final = re.compile(r"(?<=\d)['\u00a0\u2019\u202f](?=\d{3}(?!\d))", re.ASCII)  # 1'488'095, or narrow blanks
_CAPTION: Final = re.compile(r"([^()]*)(?:\(([^()]*)\))?")
_MICRO: Final = str.maketrans("\u00b5\u03bc\ufffd", "uuu")
_SURPLUS: Final = re.compile(r"[^a-z0-9]+")
_TEXT_LENGTH: Final = 200
_LARGEST: Final = 1e18
_LARGEST_COUNT: Final = 2**63 - 1
_HEADER_WITHIN: Final = 200  # lines of a file
_FEWEST_COLUMNS: Final = 2
_SEPARATORS: Final = 5  # in a header that has no commas
_MOST_COLUMNS: Final = 10_000
_RATES: Final = ("offered_rate", "achieved_rate", "duration_s")
_FACTS: Final = (
    *("tool_version", "method", "protocol", "scenario", *_RATES),
    *("sent", "received", "dropped", "started_at", "ended_at"),
)
_DETAILS: Final = (
    *("direction_scope", "frame_size_bytes", "latency_type", "line_rate_share", "load_layer"),
    *("loss_observed_pct", "loss_tolerance_pct", "ports_tx", "verdict"),
)

Amount = TypeVar("Amount", int, float)
Samples = Sequence[tuple[float, float]]
"""(t_s, value) of a series."""


class Fields(ABC):
    """Named values of one result as the tool wrote them: a row of a table or a JSON object."""

    @abstractmethod
    def get(self, *names: str, unit: str | None = None) -> object:
        """Return the first non-empty value with one of these names; `unit` is that in a column's caption."""

    def number(self, *names: str, unit: str | None = None, scale: float = 1.0) -> float | None:
        """Return `get` as a number times `scale`, or None."""
        return number(self.get(*names, unit=unit), scale)

    def whole(self, *names: str, unit: str | None = None) -> int | None:
        """Return `get` as a counter, or None."""
        return whole(self.get(*names, unit=unit))

    def milliseconds(self, unit: str, *names: str) -> float | None:
        """Return `get` as milliseconds, None if its unit is unknown; `unit` applies if the caption has none."""
        stated = next(filter(None, map(self.unit, names)), None)
        scale = _MS_PER.get(stated or unit)
        return None if scale is None else self.number(*names, unit=stated, scale=scale)

    def unit(self, _name: str) -> str | None:
        """Return the unit in a column's caption, or None."""
        return None

    def words(self, *names: str) -> str | None:
        """Return `get` as a text, or None."""
        return words(self.get(*names), _TEXT_LENGTH)


class Series(NamedTuple):
    """A value to observe: its names, of which the first present one counts, and the resulting observation."""

    names: str
    metric: str
    unit: str
    label: str | None = None
    scale: float = 1.0


class Trial(Draft):
    """A trial being parsed.

    Details: `load_layer` is L1 (preamble and gap included), L2 (with FCS) or goodput; `direction_scope` is per_port,
    one_way or sum_both; `loss_tolerance_pct` is what the test accepts, `loss_observed_pct` the measured loss (0..100);
    `line_rate_share` is the achieved rate divided by the line rate (0..1).
    """

    def __init__(self, tool: str, line: int, test: str, rate_unit: str | None = FRAMES) -> None:
        facts = {"tool": tool, **dict.fromkeys(_FACTS), "rate_unit": rate_unit}
        super().__init__(line, facts, dict.fromkeys(_DETAILS))
        self.test = test
        self.completed = True

    def latency(
        self,
        fields: Fields,
        unit: str,
        label: str | None = None,
        t_s: float | None = None,
        names: str = "{0}{2}",
        measure: str = "latency",
    ) -> None:
        """Add min, avg and max in milliseconds; `unit` applies to captions without one."""
        for each, long in _EXTREMES.items():
            value = fields.milliseconds(unit, *names.format(each, long, measure).split())
            self.observe(f"{measure}_{each}", value, "ms", label, t_s)

    def follow(self, fields: Fields, series: Iterable[Series], t_s: float | None = None) -> None:
        """Add a value of each series."""
        for names, metric, unit, label, scale in series:
            self.observe(metric, fields.number(*names.split(), scale=scale), unit, label, t_s)

    def doubt(self, why: str) -> None:
        """Record a reason why the trial does not count as complete."""
        self.completed = False
        self.warnings.append(why)

    def frames(self, size: object) -> None:
        """Record the size of the frames in bytes, or the name of their mix."""
        self.details["frame_size_bytes"] = number(size)
        if number(size) is None and (mix := words(size)):
            self.details["frame_mix"] = f"{mix} frames"

    def count_by_rate(self, sent_rate: float | None) -> None:
        """Derive missing counts from rate and duration, and the lost frames from the drop rate."""
        facts, loss_pct = self.facts, self.details["loss_observed_pct"]
        if facts["sent"] is not None or not sent_rate or not facts["duration_s"] or loss_pct is None or loss_pct > 100:
            return
        facts["sent"] = round(sent_rate * facts["duration_s"])
        facts["dropped"] = round(facts["sent"] * max(loss_pct, 0) / 100)
        facts["received"] = facts["sent"] - facts["dropped"]
        self.warnings.append("It gives rates and the share that was dropped: the counts are computed from these.")

    def repeat(self, repetition: int | None, *, several: bool) -> None:
        """Record the number of the trial, which is the repetition if a table has `several`."""
        self.details["trial"] = repetition
        if several and repetition is not None and repetition < 2**31:
            self.facts["repetition"] = repetition

    def lack(self, line: int) -> None:
        """Record an unusable line of the trial."""
        self.doubt(f"Line {line} cannot be used: the trial lacks its values.")

    def cut(self, line: int) -> None:
        """Record that the last line of the file may be truncated."""
        self.doubt(f"Line {line} has no end: its last value may be cut off and is not used.")

    def mean_rate(self, samples: Samples) -> float | None:
        """Return the mean of the steady part of the samples, and record its range in the details."""
        if not (kept := steady(samples)):
            return None
        self.details |= {"steady_from_s": kept[0][0], "steady_to_s": kept[-1][0], "steady_samples": len(kept)}
        return round(fmean(value for _, value in kept), 9)

    def conclude(self) -> Report | Reject:
        """Return the report, or a reject if nothing was sent or the trial is empty."""
        facts = self.facts
        for name in ("sent", "received", "dropped"):
            if facts[name] is not None and facts[name] > _LARGEST_COUNT:
                self.warnings.append(f"The sum of {name} is not a possible number: it is left out.")
                facts[name] = None
        sent, received, dropped = (facts[name] for name in ("sent", "received", "dropped"))
        if dropped is None and sent is not None and received is not None:
            facts["dropped"] = dropped = max(sent - received, 0)
            if received > sent:
                self.warnings.append(f"More was received ({received}) than sent ({sent}): no loss is counted.")
        if sent and dropped is not None:
            self.details["loss_observed_pct"] = 100 * dropped / sent
        for name in _RATES:
            if facts[name] is not None and facts[name] < 0:
                self.warnings.append(f"The {name} is below zero, {facts[name]:.15g}: it is left out.")
                facts[name] = None
        achieved = facts["achieved_rate"]
        if sent == 0 or (sent, received, achieved) == (None, 0, None):
            reason = "nothing was sent: all of its counters are zero"
            return Reject(self.line, reason, "save the results after the traffic has run")
        if sent is received is achieved is None:
            reason = "there is neither a count of frames or transactions nor a rate that is a number"
            return Reject(self.line, reason, "export the results again, with their counts and rates")
        facts["method"] = facts["method"] or self._method()
        return self.report(completed=self.completed)

    def _method(self) -> str:
        details = self.details
        size, tolerance = details["frame_size_bytes"], details["loss_tolerance_pct"]
        words = [
            self.test,
            details.get("frame_mix") or (f"{size:.15g} B frames" if size else None),
            details["load_layer"],
            details["direction_scope"],
            "loss tolerance not stated" if tolerance is None else f"loss tolerance {tolerance:.15g} %",
        ]
        return "; ".join(word for word in words if word)


Trials = Iterator[Trial | Reject]


class Line(NamedTuple):
    """Cells of a line of a table; `ended` is whether the line has its newline."""

    number: int
    cells: list[str]
    ended: bool

    @property
    def quoted(self) -> str:
        """Cells in quotes, for messages."""
        return quote(",".join(self.cells))


class Columns:
    """Captions of a table, with `Offered Load (fps)` and `OfferedLoad(fps)` as ("offeredload", "fps")."""

    def __init__(self, captions: Sequence[str]) -> None:
        self.keys = [_key(caption) for caption in captions]
        while self.keys and self.keys[-1] == ("", ""):
            self.keys.pop()
        self.names = frozenset(name for name, _ in self.keys)
        self._places: dict[tuple[str, str | None], list[int]] = {}
        for place, (name, unit) in enumerate(self.keys):
            self._places.setdefault((name, None), []).append(place)
            self._places.setdefault((name, unit), []).append(place)

    def unit(self, name: str) -> str | None:
        """Return the unit in brackets of the first column with this name, or None."""
        return next((self.keys[place][1] for place in self.places(name)), None)

    def places(self, name: str, unit: str | None = None) -> list[int]:
        """Return the positions of all columns with this name and, if given, this unit."""
        return self._places.get((name, unit), [])


IsHeader = Callable[[Columns], bool]


@dataclass(slots=True)
class Record(Fields):
    """A row of a table; `cut` is the text of its last cell if that may be truncated."""

    line: int
    columns: Columns
    values: Sequence[object]
    cut: str | None = None

    def get(self, *names: str, unit: str | None = None) -> object:
        """Return the first non-empty value of these columns."""
        found = (self.values[place] for name in names for place in self.columns.places(name, unit))
        return next((value for value in found if value not in (None, "")), None)

    def unit(self, name: str) -> str | None:
        """Return the unit in the caption of the first column with this name, or None."""
        return self.columns.unit(name)

    @property
    def quoted(self) -> str:
        """Values in quotes, for messages."""
        return quote(",".join(str(value) for value in self.values if value))


@dataclass(slots=True)
class Table:
    """A header and the lines below it; lines before the first header form a table without columns."""

    line: int
    columns: Columns
    rows: list[Line] = field(default_factory=list)

    def records(self, trial: Trial | None = None) -> tuple[list[Record], list[Reject]]:
        """Return the records and the rejects of the rows; note unusable and truncated rows in the trial."""
        found = [self.record(row, trial) for row in self.rows]
        return [row for row in found if isinstance(row, Record)], [row for row in found if isinstance(row, Reject)]

    def record(self, row: Line, trial: Trial | None = None) -> Record | Reject:
        """Return a row as a record, or a reject if its cells do not match the header; note that in the trial."""
        width = len(self.columns.keys)
        cells = [cell.strip() for cell in row.cells]
        if len(cells) < width or any(cells[width:]):
            if trial:
                trial.lack(row.number)
            reason = f"row of {len(cells)} cells, its header in line {self.line} has {width}: {quote(','.join(cells))}"
            hint = "a value with a comma or a space has shifted the others, or the row is cut off"
            return Reject(row.number, reason, hint)
        if row.ended:
            return Record(row.number, self.columns, cells[:width])
        if trial:
            trial.cut(row.number)
        return Record(row.number, self.columns, [*cells[: width - 1], ""], cut=cells[width - 1])


Read = Callable[[Table], Iterable[Report | Reject]]


def tables(text: bytes, is_header: IsHeader) -> Iterator[Table]:
    """Yield each table of a CSV text; every line that `is_header` accepts begins a new one."""
    table = Table(1, Columns(()))
    for row in rows(text):
        columns = Columns(row.cells) if not row.cells[0][:1].isdigit() else None
        if columns and is_header(columns):
            if table.rows or table.columns.keys:
                yield table
            table = Table(row.number, columns)
        elif any(row.cells):
            table.rows.append(row)
    if table.rows or table.columns.keys:
        yield table


def rows(text: bytes) -> Iterator[Line]:
    """Yield the cells of every non-blank line; a stray quote affects only its line."""
    separator, has_decimal_comma = _notation(text[:HEAD_BYTES])
    for line, content, ended in lines(text):
        cells = _cells(content, separator)
        if has_decimal_comma:
            cells = [c.replace(".", "").replace(",", ".") if _POINTS.fullmatch(c) else c for c in cells]
        yield Line(line, cells, ended)


@lru_cache(maxsize=1)
def _notation(head: bytes) -> tuple[str, bool]:
    """Return the separator of a table, and whether its numbers have a decimal comma, as spreadsheets may write them."""
    beginning = [line for _, line, _ in islice(lines(head), _HEADER_WITHIN)]
    wide = (each for each in ";\t" if any(line.count(each) >= _SEPARATORS > line.count(",") for line in beginning))
    separator = next(wide, ",")
    cells = {cell.strip() for line in beginning for cell in _cells(line, separator)}
    has_comma = any(map((_DECIMAL_COMMA if separator == ";" else _PLAIN_COMMA).fullmatch, cells))
    # `1.200` is 1,200 unless the same table also has numbers like 8000
    has_thousands = separator != "," and any(map(_THOUSANDS.fullmatch, cells)) and not any(map(_LARGE.fullmatch, cells))
    has_point = any(map(_PLAIN_POINT.fullmatch, cells))
    return separator, (has_comma and (separator == ";" or not has_point)) or (has_thousands and not has_point)


def _cells(line: str, separator: str) -> list[str]:
    """Return the cells of a CSV line; an invalid line is one cell."""
    line = line if line.isascii() and "'" not in line else _GAP.sub("", line)
    if line.count(separator) > _MOST_COLUMNS:
        return [line]
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator))
    except csv.Error:
        return line.split(separator)


def each_row(table: Table, trial_of: Callable[[Record], Trial | Reject]) -> Parts:
    """Yield the report or reject of each row."""
    for row in table.rows:
        record = table.record(row)
        trial = record if isinstance(record, Reject) else trial_of(record)
        if isinstance(record, Record) and record.cut is not None and isinstance(trial, Trial):
            trial.cut(record.line)
        yield concluded(trial)
    if not table.rows:
        reason = "header without rows: the file is cut off, or there were no results"
        yield Reject(table.line, reason, "export the results again, after the test has ended")


def concluded(trial: Trial | Reject) -> Report | Reject:
    """Return the report of a trial, or a reject."""
    return trial.conclude() if isinstance(trial, Trial) else trial


def each_table(text: bytes, is_header: IsHeader, read: Read, expected: str | None) -> Parts:
    """Yield the results of every table; lines above them are rejects, or prose if nothing is `expected`."""
    for table in tables(text, is_header):
        if table.columns.keys:
            yield from read(table)
        elif expected:
            yield from stray(table, expected)


def stray(table: Table, expected: str) -> Iterator[Reject]:
    """Yield a reject for lines before every header."""
    for row in table.rows:
        yield Reject(row.number, f"not part of the table: {row.quoted}", expected)


def of_tables(is_header: IsHeader, read: Read, expected: str, *, has_prose: bool = False) -> tuple[Sniff, Parse]:
    """Return a reader's `sniff` and `parse` for tables, which may have prose above them."""
    each = partial(each_table, is_header=is_header, read=read, expected=None if has_prose else expected)
    return partial(has_table, is_header=is_header), accounted(each, expected)


def accounted(read: Callable[[bytes], Iterable[Report | Reject]], expected: str) -> Parse:
    """Return a reader's `parse`: the results of `read` for a text, with consecutive rejects as one.

    Data is as for `text.parts`, at most MAX_TABLE_BYTES; a text without results is a reject, too.
    """
    advice = "split the file into one file per test"
    return lambda data: parts(data, lambda text: without_runs_of_rejects(read(text), expected), advice, MAX_TABLE_BYTES)


def has_table(head: bytes, is_header: IsHeader) -> bool:
    """Return whether the first lines of a file contain a header that `is_header` accepts."""
    return any(map(is_header, _possible_headers(head)))


@lru_cache(maxsize=1)
def _possible_headers(head: bytes) -> list[Columns]:
    text = unpack(head, HEAD_BYTES)[0]
    if max(map(text.count, (b",", b";", b"\t"))) < _FEWEST_COLUMNS:
        return []
    return [
        Columns(row.cells)
        for row in islice(rows(text), _HEADER_WITHIN)
        if len(row.cells) > _FEWEST_COLUMNS and not row.cells[0][:1].isdigit()
    ]


def number(value: object, scale: float = 1.0) -> float | None:
    """Return a number, which may have thousands separators, times `scale`; None if invalid or beyond any counter."""
    parsed = text.number(text.without_thousands(value.strip()) if isinstance(value, str) else value, scale)
    return parsed if parsed is not None and abs(parsed) <= _LARGEST else None


def whole(value: object) -> int | None:
    """Return a counter, with or without thousands separators or as `60.0`; None if invalid."""
    if (exact := count(text.without_thousands(value.strip()) if isinstance(value, str) else value)) is not None:
        return exact
    parsed = number(value)
    return int(parsed) if parsed is not None and 0 <= parsed < 2**53 and parsed == int(parsed) else None


def several_trials(numbers: Iterable[object]) -> bool:
    """Return whether the trial numbers of a table distinguish repetitions."""
    return len({value for value in map(number, numbers) if value is not None}) > 1


def total(values: Iterable[Amount | None]) -> Amount | None:
    """Return the sum of the values, or None if one is unknown."""
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known[1:], known[0]) if known and len(known) == len(found) else None


def steady(samples: Samples) -> Samples:
    """Return the samples from the first to the last that reach 95 % of the median of samples above zero.

    This leaves out the ramps at both ends, and is robust against ramps and single peaks.
    """
    positive = [value for _, value in samples if value > 0]
    floor = 0.95 * median(positive or [math.inf])
    reached = [place for place, (_, value) in enumerate(samples) if value >= floor]
    return samples[reached[0] : reached[-1] + 1] if reached else ()


def _key(caption: str) -> tuple[str, str]:
    match = _CAPTION.match(caption[:_TEXT_LENGTH].strip().lower())
    name, unit = match.groups() if match else (caption, None)
    # The micro sign and the Greek letter look the same, and spreadsheets write neither as UTF-8.
    return _SURPLUS.sub("", name), (unit or "").strip().translate(_MICRO)
