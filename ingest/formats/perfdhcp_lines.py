"""Lines that perfdhcp prints, and the data of one process, to which each line adds.

Nearly every line is a `key: value` with a key of KEYS; `recognise` knows the others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from itertools import zip_longest
from operator import sub
from typing import Any, Final, NamedTuple

from dropline.ingest.formats import Row
from dropline.ingest.formats.draft import Draft, Tally
from dropline.ingest.formats.perfdhcp_options import EXCHANGES, Pair
from dropline.ingest.formats.text import MAX_SERIES, count

START: Final = "Running: perfdhcp"

INTERIM: Final = ("sent", "received", "drops", "rejected")  # counters of an interim line, the last since 1.7.2
COUNTERS: Final = {
    "sent packets": "sent",
    "received packets": "received",
    "drops": "drops",
    "orphans": "orphans",
    "rejected leases": "rejected",
    "non unique addresses": "non_unique",
}
DELAYS: Final = ("min_delay_ms", "avg_delay_ms", "max_delay_ms", "stdev_delay_ms")
DELAY_KEYS: Final = dict(zip(("min delay", "avg delay", "max delay", "std deviation"), DELAYS, strict=True))
PLACES: Final = {
    name: (protocol, position) for protocol, names in EXCHANGES.items() for position, name in enumerate(names)
}

_REQUIRED: Final = frozenset({"position", "sent", "received", "drops", *DELAYS})
_OPTIONAL: Final[Row] = dict.fromkeys(("drop_ratio", "drop_ratio_printed", "orphans", "rejected", "non_unique"))
_LONGEST: Final = 1000  # characters of a line; longer ones are not matched
_LONGEST_TEXT: Final = 300
_NO_DELAYS: Final = "Delay summary unavailable! No packets received."

_ERROR: Final = re.compile(r"((?:ERROR: |Error )(?:running perfdhcp|parsing command line options))(?:: *.*)?")
_INTERIM: Final = re.compile(
    "{}: ([\\d/]+); {}: ([\\d/]+); {}: ([\\d/]+)(?:; {}: ([\\d/]+))?".format(*INTERIM), re.ASCII
)
_CLEAN: Final = re.compile(r"\d+(\D+)\d+(?:\1\d+)+", re.ASCII)
_RATE: Final = re.compile(
    r"([^ ,]+)(?: ([^/]+)/second)?(?:, expected rate: (\d{1,15})(?: exchanges/second)?)?", re.ASCII
)
_TIME: Final = re.compile(r"(\d{1,6})(\d\d)(\d\d)(?:\.(\d{1,9}))?", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|nan|inf)", re.ASCII)
_LEASE: Final = re.compile(r"[0-9A-Fa-f:]*,([0-9A-Fa-f:.]*),([0-9A-Fa-f:]*)")

# Labels printed by `-x a` -> option, and the other labels.
_DECODED: Final = {
    **{"rate": "r", "renew-rate": "f", "release-rate": "F", "report": "t", "clients": "R"},
    **{"num-request": "n", "test-period": "p", "drop-time": "d"},
}
_IGNORED: Final = re.compile(
    "aggressivity|base|diagnostic-selectors|elp-offset|interface|ip-offset|lease-type|local-addr|local-port"
    "|mac-list-file|max-drop|max-pdrop|preload|random-offset|relay-addr-list-file|remote-port|rip-offset|rnd-offset"
    "|seed|server|sid-offset|srvid-offset|template-file|time-offset|wrapped|xid-offset"
)


# The progress of one process's output; a line of an earlier stage begins a new process.
Stage = IntEnum("Stage", "NOTHING STARTED SCENARIO LOAD RATE STATISTICS USAGE ERROR", start=0)
Counters = list[list[int]]
"""Interim line: cumulative counters in the order of INTERIM, each with a value per exchange."""


@dataclass(slots=True)
class Process(Draft):
    """Data of one process so far; `here` is the current line number."""

    version: str | None = None
    next_version: str | None = field(init=False)
    here: int = 1
    stage: Stage = Stage.NOTHING
    command: str | None = None
    scenario: str | None = None
    arguments: list[Pair] = field(default_factory=list)  # as decoded by `-x a`
    width: int = 0  # exchanges in an interim line
    interims: dict[str, list[int | None]] = field(default_factory=lambda: {kind: [] for kind in INTERIM})  # flat
    rate: float | None = None
    rate_name: str | None = None
    expected_rate: float | None = None
    malformed: int | None = None
    open: Row | None = None
    position: int = -1  # position of the last exchange that has begun
    exchanges: list[Row] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)  # exchanges with incomplete statistics
    section: str | None = None  # the exchange whose timestamps follow
    leases: list[tuple[str, list[str]]] = field(default_factory=list)
    provisioned: bool = False  # whether the avalanche has printed its duration
    interrupted: bool = False
    usage: bool = False
    error: str = ""
    error_line: int = 0
    failed: Tally = field(default_factory=Tally)
    incorrect: Tally = field(default_factory=Tally)
    strange: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        self.next_version = self.version

    @property
    def interim_lines(self) -> int:
        """Return the number of interim lines."""
        return len(self.interims["sent"]) // self.width if self.width else 0

    @property
    def is_avalanche(self) -> bool:
        """Return whether all clients start at once."""
        return self.provisioned or self.scenario == "avalanche"

    def is_over(self, stage: Stage, payload: object) -> bool:
        """Return whether a line of `stage` must belong to a new process."""
        match stage:
            case Stage.STARTED:
                return self.stage > Stage.NOTHING
            case Stage.LOAD:
                return self.stage > stage or (
                    bool(self.width) and isinstance(payload, list) and self._restarts(payload)
                )
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

    def take(self, line: Line | None, payload: Any, text: str) -> bool:
        """Add a line (None if unknown), and return whether it is valid here."""
        if line and line.stage:
            self.enter(line.stage)
        if line and line.act(self, payload) is not False:
            return True
        if self.error and self.here == self.error_line + 1:
            self.error += f" {text[:_LONGEST_TEXT]}"  # a few messages have a second line
        elif self.stage is not Stage.USAGE:
            self.strange.add(self.here, text)
        return False

    def enter(self, stage: Stage) -> None:
        """Record that the current line belongs to `stage`."""
        if self.stage is Stage.NOTHING:
            self.line = self.here
        self.usage |= stage is Stage.USAGE
        self.stage = max(stage, self.stage)

    def fill(self, values: Row, *, again: bool = False) -> bool:
        """Add values to the statistics of an exchange, if they are missing."""
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
            self.exchanges.append({**_OPTIONAL, **self.open, "collected": collected})
            self.open = None
        self.give_up()
        return True

    def exchange(self) -> str | None:
        """Return the exchange whose statistics include the current line or have just ended."""
        if self.open is not None:
            return str(self.open["exchange"])
        begun = [*(row["exchange"] for row in self.exchanges[-1:]), *self.broken[-1:]]
        return next((name for name in begun if name in PLACES and PLACES[name][1] == self.position), None)

    def intervals(self, exchanges: tuple[str, ...], report_s: float | None) -> dict[str, Sequence[Any]]:
        """Return columns of schema.INTERVALS; `report_s` is the nominal time between two lines."""
        if not exchanges:
            return {}
        lines, width = min(self.interim_lines, MAX_SERIES), len(exchanges)
        positions = [position for position in range(lines) for _ in exchanges]
        counters: dict[str, list[Any]] = {kind: self.interims[kind][: lines * width] for kind in INTERIM}
        since = {f"interval_{kind}": counters[kind] for kind in INTERIM[:3]}
        return {
            "position": positions,
            "t_s": [(position + 1) * report_s if report_s else None for position in positions],
            "exchange": exchanges * lines,
            **counters,
            **{name: [*counts[:width], *map(sub, counts[width:], counts)] for name, counts in since.items()},
        }

    def give_up(self) -> None:
        """Count unfinished statistics as broken."""
        if self.open is not None:
            self.broken.append(self.open["exchange"])
            self.open = None

    def _restarts(self, counters: Counters) -> bool:
        return self.width != len(counters[0]) or (self.interims["sent"][-self.width] or 0) > counters[0][0]

    def _is_beheaded(self) -> bool:
        """Return whether statistics lack their first line because the file begins there."""
        if self.stage not in {Stage.NOTHING, Stage.STATISTICS} or self.exchanges or self.broken:
            return False
        self.enter(Stage.STATISTICS)
        return True

    def _option(self, match: re.Match[str]) -> bool:
        if option := _DECODED.get(match[1]):
            self.arguments.append((option, match[2]))
        return bool(option or _IGNORED.fullmatch(match[1]))

    def _interim_counters(self, counters: Counters) -> None:
        self.width = len(counters[0])
        for kind, values in zip_longest(INTERIM, counters):
            self.interims[kind] += values or [None] * self.width

    def _interrupt(self, _payload: object) -> None:
        self.interrupted |= Stage.NOTHING < self.stage < Stage.RATE

    def _rate(self, text: str) -> bool:
        match = _RATE.fullmatch(text) if len(text) <= _LONGEST else None
        rate = _number(match[1]) if match else None
        if match is None or rate is None:
            return False
        if not (match[2] or match[3]) and self.stage is not Stage.RATE:  # the title `Rate: 800` of another report
            return False
        self.rate, self.rate_name = _finite(rate), match[2]
        self.expected_rate = float(match[3]) if match[3] else None
        return True

    def _malformed(self, text: str) -> bool:
        self.malformed = count(text)
        return self.malformed is not None

    def _begin_exchange(self, title: str) -> bool:
        self.give_up()
        self.open = {"exchange": title.removesuffix("***")[:_LONGEST_TEXT]}
        if place := _place(title):
            self.position = self.open["position"] = place[1]
        return place is not None

    def _counter(self, text: str, column: str) -> bool:
        value = count(text)
        return value is not None and self.fill({column: value})

    def _drops_ratio(self, text: str) -> bool:
        printed = text.removesuffix(" %")
        ratio = _number(printed)
        if ratio is None or printed == text:
            return False
        return self.fill({"drop_ratio": _finite(ratio / 100), "drop_ratio_printed": printed})

    def _delay(self, text: str, column: str) -> bool:
        if text in {"n/a", "min delay: n/a"}:
            # Without any answer, the first two lines are printed twice, once glued to another line.
            return self.fill({column: None}, again=True)
        if text == _NO_DELAYS:
            return self._no_delays(text)
        delay = _number(text.removesuffix(" ms"))
        return delay is not None and text.endswith(" ms") and self.fill({column: _finite(delay)})

    def _no_delays(self, _payload: object) -> bool:
        return self.fill(dict.fromkeys(DELAYS), again=True) and self.end_exchange(None)

    def _collected(self, text: str) -> bool:
        value = count(text)
        return self.end_exchange(value) and value is not None

    def _diagnostic(self, text: str, metric: str, unit: str) -> bool:
        value = count(text)
        self.observe(metric, value, unit)
        return value is not None

    def _times(self, text: str) -> bool:
        """Add the response time of one packet; both times count from the start of the trial."""
        sent, received = (_nanoseconds(time) for time in text.partition(" / ")[::2])
        if sent is None or received is None or self.section is None:
            return False
        self.observe("response_time", (received - sent) / 1e6, "ms", self.section, sent / 1e9)
        return True

    def _provisioned(self, match: re.Match[str]) -> bool:
        took = _nanoseconds(match[1].replace(":", ""))
        if took is None:
            return False
        self.provisioned = True
        self.observe("provision_time", took / 1e9, "s")
        for metric, text in zip(_TOTALS.values(), match.groups()[1:], strict=True):
            self.observe(metric, count(text), "packets")
        return True

    def _lease(self, address: str) -> None:
        if address:  # empty for clients without a lease
            self.leases[-1][1].append(address)

    def _fail(self, text: str) -> None:
        self.error, self.error_line = text[:_LONGEST_TEXT], self.here

    def _version(self, match: re.Match[str]) -> None:
        """Use the answer to `perfdhcp -v` as the version of the reports that follow."""
        self.next_version = match[1]
        if self.stage is Stage.NOTHING:
            self.version = match[1]


def _place(title: str) -> tuple[str, int] | None:
    return PLACES.get(title.removesuffix("***")) if title.endswith("***") else None


Act = Callable[[Process, Any], bool | None]
"""Action of a line on its payload, which returns False if the line is not valid there."""


class Line(NamedTuple):
    """A kind of line: its name for users, its action, and its stage."""

    words: str
    act: Act = lambda *_: None
    stage: Stage = Stage.NOTHING


def recognise(text: str, *, in_leases: bool) -> tuple[Line | None, Any]:
    """Return the kind, None if unknown, and the payload of a line without a known key; leases only `in_leases`."""
    if text.startswith(START):
        return _COMMAND, text.removeprefix("Running: ")
    if text in _LINES:
        return _LINES[text]
    if text.startswith("sent: ") and (counters := _counters(text)):
        return _COUNTERS, counters
    if match := _ERROR.fullmatch(text):
        return _FAILURE, match[0]
    if len(text) <= _LONGEST:
        if counters := clean_counters(text):
            return _COUNTERS, counters
        if in_leases and (match := _LEASE.fullmatch(text)):
            return _LEASED, match[1] or match[2]
        for pattern, line in _PATTERNS.items():
            if match := pattern.fullmatch(text):
                return line, match
    return None, ""


def clean_counters(line: str) -> Counters | None:
    """Return the counters of an interim line without labels, with a custom separator (`-C`)."""
    match = _CLEAN.fullmatch(line) if len(line) <= _LONGEST else None
    numbers = line.split(match[1]) if match else []
    width, rest = divmod(len(numbers), 4)
    counters = _table([numbers[i : i + width] for i in range(0, len(numbers), width)]) if width and not rest else None
    if counters is None:
        return None
    sent, received, drops, _ = counters  # drops follow from sent and received
    return counters if drops == [max(s - r, 0) for s, r in zip(sent, received, strict=True)] else None


def _counters(line: str) -> Counters | None:
    match = _INTERIM.fullmatch(line) if len(line) <= _LONGEST else None
    return _table([group.split("/") for group in match.groups() if group]) if match else None


def _table(columns: list[list[str]]) -> Counters | None:
    """Return the counters in columns of digits; None if there are none or one exceeds a 64-bit integer."""
    width = len(columns[0])
    counts = [[int(text) for text in texts if 0 < len(text) <= 18] for texts in columns]
    return None if width > 4 or any(len(values) != width for values in columns + counts) else counts


def _number(text: str) -> float | None:
    """Parse a number as a C++ stream prints it, including inf and nan; return None if invalid."""
    return float(text) if len(text) <= _LONGEST and _NUMBER.fullmatch(text) else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _nanoseconds(text: str) -> int | None:
    """Parse a boost time, HHMMSS.ffffff; boost omits the fraction if it is zero."""
    if not (match := _TIME.fullmatch(text)):
        return None
    seconds = int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3])
    return seconds * 10**9 + int((match[4] or "").ljust(9, "0"))


def _set(trial: Process, value: object, name: str) -> None:
    setattr(trial, name, value)


# Before 2.0, the avalanche printed all of these on one line, in the same order.
_TOTALS: Final = {
    **{"Requests sent + resent": "requests_sent", "Requests resent": "requests_resent"},
    "Responses received": "responses_received",
}
_KNOWN: Final = Line("known text")
_COMMAND: Final = Line("command line", partial(_set, name="command"), Stage.STARTED)
_SCENARIO: Final = Line("scenario", partial(_set, name="scenario"), Stage.SCENARIO)
_FLAGGED: Final = Line("option without value", lambda trial, option: trial.arguments.append((option, "")))
_COUNTERS: Final = Line("interim counters", Process._interim_counters, Stage.LOAD)
_FAILURE: Final = Line("error", Process._fail, Stage.ERROR)
_LEASED: Final = Line("lease", Process._lease)
_DIAGNOSTICS: Final = {
    "Short waits for packets": ("short_waits", "waits"),
    "Late sent packets": ("late_sent_packets", "packets"),
    "Multiple packets receives": ("multiple_receives", "receives"),
    **{key: (metric, "packets") for key, metric in _TOTALS.items()},
}
KEYS: Final[dict[str, Line]] = {
    "Rate": Line("rate", Process._rate),
    "Malformed packets": Line("count of malformed packets", Process._malformed),
    "***Statistics for": Line("head of the statistics", Process._begin_exchange, Stage.STATISTICS),
    **{key: Line("counter", partial(Process._counter, column=column)) for key, column in COUNTERS.items()},
    "drops ratio": Line("drops ratio", Process._drops_ratio),
    **{key: Line("delay", partial(Process._delay, column=column)) for key, column in DELAY_KEYS.items()},
    "collected packets": Line("count of collected packets", Process._collected),
    "***Timestamps for packets": Line(
        "head of the timestamps", lambda trial, text: _set(trial, text.removesuffix("***"), "section")
    ),
    "sent / received": Line("times of one packet", Process._times),
    "Server id": _KNOWN,
    "Failed to receive DHCP packet": Line(
        "packet that could not be received", lambda trial, text: trial.failed.add(trial.here, text)
    ),
    **{
        key: Line("diagnostic counter", partial(Process._diagnostic, metric=metric, unit=unit))
        for key, (metric, unit) in _DIAGNOSTICS.items()
    },
}
_LINES: Final[dict[str, tuple[Line, str]]] = {
    "Scenario: basic.": (_SCENARIO, "basic"),
    "Scenario: avalanche.": (_SCENARIO, "avalanche"),
    "***Rate statistics***": (_KNOWN._replace(stage=Stage.RATE), ""),
    _NO_DELAYS: (Line("no delays", Process._no_delays), ""),
    "^C": (Line("interrupt", Process._interrupt), ""),
    "IPv6": (_FLAGGED, "6"),
    **dict.fromkeys(("DISCOVER-OFFER only", "SOLICIT-ADVERTISE only"), (_FLAGGED, "i")),
    **dict.fromkeys(
        (
            *("Multi-thread mode enabled.", "***Malformed Packets***", "Fatal error", "reached test-period."),
            *("Reached max requests limit.", "Reached maximum drops number.", "Reached maximum percentage of drops."),
            "Interrupted",  # always printed with `-x e`
            *("IPv4", "broadcast", "rapid-commit", "use-first", "single-thread-mode", "multi-thread-mode"),
            *("Unavailable! No packets received.", "contents:"),
            *("client_id,adrress,prefix", "client_id,address,prefix"),
        ),
        (_KNOWN, ""),
    ),
}
_PATTERNS: Final[dict[re.Pattern[str], Line]] = {
    re.compile(pattern, re.ASCII): line
    for pattern, line in {
        r"perfdhcp \[-.*": _KNOWN._replace(stage=Stage.USAGE),
        r"\*\*\*Leases for (.*?)(?:\*\*\*)?": Line(
            "head of the leases", lambda trial, match: trial.leases.append((match[1], []))
        ),
        "Incorrect DHCP packet received(.*)": Line(
            "malformed packet", lambda trial, match: trial.incorrect.add(trial.here, match[1])
        ),
        "(?:INFO: in avalanche scenario |Set MAC to |Set DUID to |Truncated DHCPv|Script started|Script done"
        "|WARNING: Currently system |WARNING: Better results |WARNING: To switch use ).*": _KNOWN,
        r"\d{4}-\w{3}-\d\d \S+ \S+: still waiting for \d+ answers, resent \d+, retrying \d+": _KNOWN._replace(
            stage=Stage.LOAD
        ),
        r"It took (\S+) to provision \d+ clients\."
        r"(?: (\d+) packets were sent, (\d+) retransmissions needed, received (\d+) responses\.)?": Line(
            "summary of the avalanche", Process._provisioned
        ),
        r"([a-z][a-z-]*)(?:[\[{][^\]=]*\])?=(.*)": Line("option", Process._option),
        "[0-9a-f]{4,8} +[0-9a-f]+": _KNOWN,  # of a template
        r"(?:VERSION: )?(\d+\.\d+\.\d+(?:-\w+)?)": Line("version", Process._version),
    }.items()
}
