"""Base class of parsers of text output: the lines of one process, and the resulting trial."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from dropline.ingest.formats import Parts, Reject, Report, Row
from dropline.ingest.formats.draft import Draft, Tally, remedy
from dropline.ingest.formats.text import LONGEST, lines, parts, quote, unpack

Result = Report | Reject
Action = Callable[..., bool | None]
"""Action of a rule on the run and the groups of its match; False leaves the line to the next rules."""
Rules = tuple[tuple[Callable[[str], re.Match[str] | None], Action], ...]
Explained = Iterator[tuple[int, str, str]]
"""(number, text, interpretation) of every non-blank line."""

_RECORDER: Final = ("Script started", "Script done")
_INTERRUPT: Final = re.compile(r"(?:\^C\s*)+")
_COMMAND: Final = re.compile(r'COMMAND="([^"]*)"')
_FACTS: Final[Row] = {
    **dict.fromkeys(("tool_version", "command", "method")),
    "protocol": "DNS",
    **dict.fromkeys(("scenario", "offered_rate", "achieved_rate")),
    "rate_unit": "queries/s",
    **dict.fromkeys(("sent", "received", "dropped", "malformed")),
    **dict.fromkeys(("duration_s", "drop_time_s", "drop_time_second_s", "wait_s", "clients")),
}


def rule_table(table: dict[str, Action]) -> Rules:
    """Return the rules of a tool: patterns of whole lines with their actions; the first that applies counts."""
    return tuple((re.compile(pattern, re.ASCII).fullmatch, action) for pattern, action in table.items())


def line_starts(*patterns: str) -> str:
    """Return the pattern of a line that begins with one of `patterns`."""
    return rf"(?:\A|[\r\n])[ \t]*(?:{'|'.join(patterns)})"


def fact(name: str, convert: Callable[[Any], object] = str) -> Action:
    """Return the action that sets a fact from the first group."""
    return lambda run, text: run.facts.update({name: convert(text)})


def detail(*names: str) -> Action:
    """Return the action that sets details from the groups."""
    return lambda run, *groups: run.details.update(zip(names, groups, strict=True))


def store(name: str, convert: Callable[..., object]) -> Action:
    """Return the action that sets an attribute of the run from the groups."""
    return lambda run, *groups: setattr(run, name, convert(*groups))


def skip(*_: object) -> None:
    """Do nothing, as the line is from the tool but holds nothing of interest."""


def fail(run: TextRun, text: str) -> None:
    """Record an error message."""
    run.error = (run.here, text)


@dataclass
class TextRun(Draft, ABC):
    """Data of one process so far; base class of every tool's parser."""

    tool: ClassVar[str]
    expected: ClassVar[str]
    rules: ClassVar[Rules] = ()
    usage_begins: ClassVar[str | tuple[str, ...]] = "usage: "
    usage_hint: ClassVar[str] = "call it with a server and queries, without -h"
    silence: ClassVar[tuple[str, str] | None] = None  # explanation and advice if the tool printed nothing

    line: int = 0  # the tool's first line, 0 until it is known
    here: int = 0  # current line number
    ended: bool = True  # whether the line has its newline
    error: tuple[int, str] | None = None  # the error that the tool printed
    usage: bool = False  # whether the tool printed its usage
    interrupted: bool = False  # whether the text contains a Ctrl-C
    doubts: list[str] = field(default_factory=list)  # inconsistencies, with which the trial does not count as complete
    strange: Tally = field(default_factory=Tally)  # lines that are not from the tool

    def __post_init__(self) -> None:
        self.facts = {"tool": self.tool, **_FACTS}

    @abstractmethod
    def begins_with(self, line: str) -> bool:
        """Return whether `line` belongs to a new process."""

    def take(self, line: str) -> bool:
        """Parse `line`; return False if it is not from the tool."""
        self.usage = self.usage or (line.startswith(self.usage_begins) and len(line) <= LONGEST)
        return self.take_ruled(line) or self.usage

    def take_ruled(self, line: str) -> bool:
        """Parse `line` by the rules."""
        if len(line) > LONGEST:
            return False
        for matched, action in self.rules:
            if (match := matched(line)) and action(self, *match.groups()) is not False:
                return True
        return False

    @abstractmethod
    def conclude(self) -> Result:
        """Return the report, or a reject."""

    def read(self, line: str) -> None:
        """Parse a line; record it if it is invalid here."""
        if interrupt := _INTERRUPT.match(line):
            self.interrupted = True
            line = line[interrupt.end() :]
        if line.startswith(_RECORDER):
            if command := _COMMAND.search(line[:LONGEST]):
                self.facts["command"] = command[1]
            return
        if line and not self.take(line):
            self.strange.add(self.here, line)
        elif line:
            self.line = self.line or self.here

    def explained(self, line: str) -> str:
        """Parse a line, and return how it was interpreted."""
        facts, observed = dict(self.facts), len(self.observations)
        error, usage, strange = self.error, self.usage, self.strange.count
        self.read(line)
        if self.strange.count > strange:
            return f"not from {self.tool}"
        if self.error != error:
            return "an error message"
        if self.usage and not usage:
            return "usage text"
        if columns := [name for name, value in self.facts.items() if value != facts[name]]:
            return f"gives {', '.join(columns)}"
        metrics = dict.fromkeys(metric for metric, *_ in self.observations[observed:])
        if len(metrics) > 1:
            return f"values of {len(metrics)} metrics"
        return f"values of {', '.join(metrics)}" if metrics else f"of {self.tool}"

    def report(self, *, completed: bool) -> Report:
        """Return the report; `completed` means that it is complete and the tool ended by itself."""
        if self.error:
            self.warnings.append(f"Line {self.error[0]} reports an error: {quote(self.error[1])}.")
        if self.interrupted:
            self.warnings.append("The trial was interrupted by Ctrl-C.")
        self.warnings += self.doubts
        self.warnings += (
            f"Line {number} is not from {self.tool}: {quote(text)}." for number, text in self.strange.first
        )
        if more := self.strange.count - len(self.strange.first):
            self.warnings.append(f"{more} more lines are not from {self.tool}.")
        return super().report(completed=completed and not self.interrupted and not self.doubts)

    def add_up(self, interrupted: int = 0) -> None:
        """Add a doubt if the counters are inconsistent, unless some are unknown."""
        sent, received, dropped = (self.facts[name] for name in ("sent", "received", "dropped"))
        if None not in (sent, received, dropped) and sent != received + dropped + interrupted:
            self.doubts.append(f"{sent} were sent, and {received + dropped + interrupted} are accounted for.")

    def reject(self) -> Reject:
        """Return a reject whose reason depends on how far the output got."""
        if self.error:
            line, error = self.error
            return Reject(line, f"{self.tool} failed: {error[:300]}", remedy(self.tool, error))
        if self.usage:
            why = self.strange.mentioned
            hint = remedy(self.tool, why) if why else self.usage_hint
            return Reject(self.line, f"usage text of {self.tool} instead of a report{why}", hint)
        if self.line:
            hint = "copy the whole file again, or run the trial again and keep stderr, too (2>&1)"
            return Reject(self.line, f"{self.unfinished}{self.strange.mentioned}", hint)
        if number := next((number for number, _ in self.strange.first), 0):
            return Reject(number, f"no output of {self.tool} was recognised{self.strange.mentioned}", self.expected)
        return Reject(1, *(self.silence or ("there is no text in it", self.expected)))

    @classmethod
    def prepared(cls, data: bytes) -> bytes:
        """Return `data` prepared for parsing line by line."""
        return data

    @classmethod
    def parse(cls, data: bytes, line: int = 1) -> Parts:
        """Yield the result of each process in `data`, in order; the text begins at line `line`; see `text.within`."""
        advice = "split the file between two reports, or log fewer lines"
        return parts(cls.prepared(data), lambda text: _trials(text, cls, line), advice)

    @classmethod
    def explain(cls, data: bytes, line: int = 1) -> Explained:
        """Yield (number, text, interpretation) of every non-blank line, as `parse` sees it."""
        text, _ = unpack(cls.prepared(data))
        for number, content, run in _walk(text, cls, line):
            yield number, content, run.explained(content)

    @property
    def unfinished(self) -> str:
        """Description of a report that has begun but is incomplete."""
        return f"report of {self.tool} cut off or not finished"


def _trials(text: bytes, kind: type[TextRun], first: int) -> Parts:
    current: TextRun | None = None
    for _, line, trial in _walk(text, kind, first):
        if current is not None and trial is not current:
            yield current.conclude()
        current = trial
        trial.read(line)
    yield (current or kind()).conclude()


def _walk(text: bytes, kind: type[TextRun], first: int) -> Iterator[tuple[int, str, TextRun]]:
    """Yield number and text of every line, and the trial that should parse it."""
    trial = kind()
    for number, line, ended in lines(text, first):
        if trial.line and trial.begins_with(line):
            trial = kind()
        trial.here, trial.ended = number, ended
        yield number, line, trial
