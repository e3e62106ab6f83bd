"""The parsed lines of one perfdhcp process, and the detection of its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats.draft import Draft
from dropline.ingest.formats.perfdhcp_options import EXCHANGES
from dropline.ingest.records import Records

if TYPE_CHECKING:
    from dropline.ingest.formats import Row
    from dropline.ingest.formats.perfdhcp_options import Pair

DELAYS: Final = ("min_delay_ms", "avg_delay_ms", "max_delay_ms", "stdev_delay_ms")

_REQUIRED: Final = frozenset({"position", "sent", "received", "drops", *DELAYS})
_OPTIONAL: Final[Row] = dict.fromkeys(("drop_ratio", "drop_ratio_printed", "orphans", "rejected", "non_unique"))
PLACES: Final = {
    name: (protocol, position) for protocol, names in EXCHANGES.items() for position, name in enumerate(names)
}
_NAMED: Final = 3
_LONGEST_TEXT: Final = 300


class Stage(IntEnum):
    """The progress of one process's output; a line of an earlier stage begins a new process."""

    NOTHING = 0
    STARTED = 1
    SCENARIO = 2
    LOAD = 3
    RATE = 4
    STATISTICS = 5
    USAGE = 6
    ERROR = 7


@dataclass(slots=True)
class Counters:
    """One interim line: cumulative counters with one value per exchange."""

    sent: list[int]
    received: list[int]
    drops: list[int]
    rejected: list[int] | None  # None before 1.7.2


@dataclass(slots=True)
class Interims:
    """All interim lines of a trial, by kind of counter: the values of all exchanges, line after line.

    Attributes:
        width: number of exchanges per line.
        rejected: None if the lines do not have it.

    """

    width: int = 0
    sent: list[int] = field(default_factory=list)
    received: list[int] = field(default_factory=list)
    drops: list[int] = field(default_factory=list)
    rejected: list[int | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.sent) // self.width if self.width else 0

    def add(self, line: Counters) -> None:
        """Append a line; it must have the same width."""
        self.width = len(line.sent)
        self.sent += line.sent
        self.received += line.received
        self.drops += line.drops
        self.rejected += line.rejected or [None] * self.width


@dataclass(slots=True)
class Tally:
    """Lines of one kind: number of lines, the first few with line numbers, and the last line number."""

    count: int = 0
    first: list[tuple[int, str]] = field(default_factory=list)
    last: int = 0

    def add(self, number: int, text: str) -> None:
        """Count one line."""
        self.count += 1
        self.last = number
        if len(self.first) < _NAMED:
            self.first.append((number, text))


@dataclass(slots=True)
class Process(Draft):
    """The data of one process so far; `here` is the current line number."""

    version: str | None = None
    next_version: str | None = field(init=False)
    here: int = 1
    stage: Stage = Stage.NOTHING
    command: str | None = None
    scenario: str | None = None
    arguments: list[Pair] = field(default_factory=list)  # as `-x a` decodes them
    interims: Interims = field(default_factory=Interims)
    rate: float | None = None
    rate_name: str | None = None
    expected_rate: float | None = None
    malformed: int | None = None
    open: Row | None = None
    position: int = -1  # of the exchange begun last
    exchanges: Records = field(default_factory=Records)
    broken: list[str] = field(default_factory=list)  # exchanges with incomplete statistics
    section: str | None = None  # the exchange whose timestamps follow
    leases: list[tuple[str, list[str]]] = field(default_factory=list)
    provisioned: bool = False  # the avalanche has printed its duration
    interrupted: bool = False
    usage: bool = False
    error: str = ""
    error_line: int = 0
    failed: Tally = field(default_factory=Tally)
    incorrect: Tally = field(default_factory=Tally)
    strange: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        self.next_version = self.version

    def is_over(self, stage: Stage, payload: object) -> bool:
        """Return whether a line of `stage` must belong to a new process."""
        match stage:
            case Stage.STARTED:
                return self.stage > Stage.NOTHING
            case Stage.LOAD:
                restarts = isinstance(payload, Counters) and self._restarts(payload)
                return self.stage > stage or restarts
            case Stage.STATISTICS:
                place = _place(str(payload))
                return self.stage > stage or (place is not None and place[1] <= self.position)
            case Stage.USAGE:
                # Before 1.6 the error preceded the usage.
                return self.usage or (self.stage > Stage.SCENARIO and "parsing" not in self.error)
            case Stage.ERROR:
                return self.stage in {Stage.RATE, Stage.STATISTICS, Stage.ERROR}
            case _:
                return self.stage >= stage

    def enter(self, stage: Stage) -> None:
        """Record that the current line belongs to `stage`."""
        if self.stage is Stage.NOTHING:
            self.line = self.here
        self.usage |= stage is Stage.USAGE
        if stage > self.stage:
            self.stage = stage

    def begin_exchange(self, title: str) -> bool:
        """Begin the statistics of `title` (an exchange and `***`); return whether the exchange is known."""
        self.give_up()
        self.open = {"exchange": title.removesuffix("***")[:_LONGEST_TEXT]}
        if place := _place(title):
            self.position = self.open["position"] = place[1]
        return place is not None

    def fill(self, values: Row, *, again: bool = False) -> bool:
        """Add missing values to the statistics of an exchange."""
        if self.open is None:
            return self._is_beheaded()
        if not again and not values.keys().isdisjoint(self.open):
            return False
        self.open.update(values)
        return True

    def end_exchange(self, collected: int | None) -> bool:
        """End the statistics of one exchange; they are invalid without the lines that every version prints."""
        if self.open is None:
            return self._is_beheaded()
        if self.open.keys() >= _REQUIRED:
            self.exchanges = Records.of([*self.exchanges, {**_OPTIONAL, **self.open, "collected": collected}])
            self.open = None
        self.give_up()
        return True

    def exchange(self) -> str | None:
        """Return the exchange whose statistics contain the current line or have just ended."""
        if self.open is not None:
            return str(self.open["exchange"])
        begun = [*self.exchanges.column("exchange")[-1:], *self.broken[-1:]]
        return next((name for name in begun if name in PLACES and PLACES[name][1] == self.position), None)

    def fail(self, error: str) -> bool:
        """Record an error that ended perfdhcp."""
        self.error, self.error_line = error[:_LONGEST_TEXT], self.here
        return True

    def wonder(self, line: str) -> None:
        """Record a line that is invalid here, unless it continues a longer text."""
        if self.error and self.here == self.error_line + 1:
            self.error += f" {line[:_LONGEST_TEXT]}"  # a few messages have a second line
        elif self.stage is not Stage.USAGE:
            self.strange.add(self.here, line)

    def _restarts(self, counters: Counters) -> bool:
        if not self.interims:
            return False
        width = self.interims.width
        return width != len(counters.sent) or self.interims.sent[-width] > counters.sent[0]

    def _is_beheaded(self) -> bool:
        """Return whether statistics lack their first line because the file begins there."""
        if self.stage not in {Stage.NOTHING, Stage.STATISTICS} or self.exchanges or self.broken:
            return False
        self.enter(Stage.STATISTICS)
        return True

    def give_up(self) -> None:
        """Count unfinished statistics as broken."""
        if self.open is not None:
            self.broken.append(self.open["exchange"])
            self.open = None


def _place(title: str) -> tuple[str, int] | None:
    return PLACES.get(title.removesuffix("***")) if title.endswith("***") else None
