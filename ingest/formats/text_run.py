"""Runs of a tool that prints text: their lines, and the resulting trial."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from dropline.ingest.formats import Reject, Report
from dropline.ingest.formats.draft import Draft
from dropline.ingest.formats.text import LONGEST, MAX_TEXT_BYTES, lines, parts, quote, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Row


_RECORDER: Final = ("Script started", "Script done")
_INTERRUPT: Final = re.compile(r"(?:\^C\s*)+")
_COMMAND: Final = re.compile(r'COMMAND="([^"]*)"')
_NAMED: Final = 3
_FACTS: Final[Row] = {
    **dict.fromkeys(("tool_version", "command", "method")),
    "protocol": "DNS",
    **dict.fromkeys(("scenario", "offered_rate", "achieved_rate")),
    "rate_unit": "queries/s",
    **dict.fromkeys(("sent", "received", "dropped", "malformed")),
    **dict.fromkeys(("duration_s", "drop_time_s", "drop_time_second_s", "wait_s", "clients")),
}


class State(NamedTuple):
    """What a trial has come to."""

    facts: Row
    observations: int
    strange: int
    error: tuple[int, str] | None
    usage: bool


class TextRun(Draft, ABC):
    """What the lines of one process have said so far; every tool has a kind of its own.

    Attributes:
        here: the number of the line that is read, and `ended` whether it has its newline; `line` is the first line
            that is of the tool, 0 before it.
        error: what the tool says went wrong, and `usage` whether it printed how it is called.
        interrupted: whether a Ctrl-C stands in the text.
        doubts: what in the report contradicts itself; with one it does not count as whole.
        silence: what it means when the tool printed nothing, and what to do.

    """

    tool: ClassVar[str]
    expected: ClassVar[str]
    usage_hint: ClassVar[str] = "call it with a server and queries, without -h"
    remedies: ClassVar[tuple[tuple[str, str], ...]] = ()
    silence: ClassVar[tuple[str, str] | None] = None

    def __init__(self) -> None:
        super().__init__(0, {"tool": self.tool, **_FACTS})
        self.here = 0
        self.ended = True
        self.error: tuple[int, str] | None = None
        self.usage = self.interrupted = False
        self.doubts: list[str] = []
        self._strange: list[tuple[int, str]] = []
        self._strange_count = 0

    @abstractmethod
    def begins_with(self, line: str) -> bool:
        """Say whether `line` is of another process than the lines before it."""

    @abstractmethod
    def take(self, line: str) -> bool:
        """Keep what `line` says; False when it is not of the tool."""

    @abstractmethod
    def conclude(self) -> Report | Reject:
        """Return the report, or the reason why there is none."""

    def read(self, line: str) -> None:
        """Take one line, and account for it when it makes no sense here."""
        if interrupt := _INTERRUPT.match(line):
            self.interrupted = True
            line = line[interrupt.end() :]
        if line.startswith(_RECORDER):
            if command := _COMMAND.search(line[:LONGEST]):
                self.facts["command"] = command[1]
            return
        if line and not self.take(line):
            self._strange_count += 1
            if len(self._strange) < _NAMED:
                self._strange.append((self.here, line))
        elif line:
            self.line = self.line or self.here

    def state(self) -> State:
        """Return what the lines so far have come to, for `taken_for`."""
        return State(dict(self.facts), len(self.observations), self._strange_count, self.error, self.usage)

    def taken_for(self, before: State) -> str:
        """Return in words what the line was taken for that was read since `before`."""
        if self._strange_count > before.strange:
            return f"not of {self.tool}"
        if self.error != before.error:
            return "an error message"
        if self.usage and not before.usage:
            return "usage text"
        if columns := [name for name, value in self.facts.items() if value != before.facts[name]]:
            return f"gives {', '.join(columns)}"
        metrics = dict.fromkeys(metric for metric, *_ in self.observations[before.observations :])
        if len(metrics) > 1:
            return f"values of {len(metrics)} metrics"
        return f"values of {', '.join(metrics)}" if metrics else f"of {self.tool}"

    def report(self, *, completed: bool) -> Report:
        """Return the report; `completed` says whether it is whole and ended by itself."""
        if self.error:
            self.warnings.append(f"Line {self.error[0]} tells an error: {quote(self.error[1])}.")
        if self.interrupted:
            self.warnings.append("The trial was interrupted by Ctrl-C.")
        self.warnings += (*self.doubts, *self._strange_lines())
        return super().report(completed=completed and not self.interrupted and not self.doubts)

    def add_up(self, interrupted: int = 0) -> None:
        """Doubt the report when its counters do not agree; what is not known may be anything."""
        sent, received, dropped = (self.facts[name] for name in ("sent", "received", "dropped"))
        if None not in (sent, received, dropped) and sent != received + dropped + interrupted:
            self.doubts.append(f"{sent} were sent, and {received + dropped + interrupted} are accounted for.")

    def reject(self) -> Reject:
        """Return why these lines are no report, by what they have got to."""
        if self.error:
            number, text = self.error
            return Reject(number, f"{self.tool} failed: {text[:300]}", self._remedy(text))
        if self.usage:
            why = self._first_strange()
            hint = self._remedy(why) if why else self.usage_hint
            return Reject(self.line, f"usage text of {self.tool} instead of a report{why}", hint)
        if self.line:
            reason = f"{self.unfinished}{self._first_strange()}"
            hint = "copy the whole file again, or run the trial again and keep stderr, too (2>&1)"
            return Reject(self.line, reason, hint)
        if self._strange:
            reason = f"nothing of {self.tool} was recognised{self._first_strange()}"
            return Reject(self._strange[0][0], reason, self.expected)
        return Reject(1, *(self.silence or ("there is no text in it", self.expected)))

    @classmethod
    def parse(cls, data: bytes, line: int = 1) -> Iterator[Report | Reject]:
        """Yield what each process in the text of `data`, which begins in `line`, comes to, in the order of the file.

        Takes UTF-8, UTF-16 with its mark, and gzip of these, with LF, CRLF or CR. Never raises for bad input; more
        than MAX_TEXT_BYTES of text is one reject.
        """
        advice = "split the file between two reports, or log fewer lines"
        return parts(data, lambda text: _trials(text, cls, line), advice)

    @classmethod
    def explain(cls, data: bytes, line: int = 1) -> Iterator[tuple[int, str, str]]:
        """Yield (number, text, what it was taken for) of every line that is not blank; reads as `parse` does."""
        text, _ = unpack(data, MAX_TEXT_BYTES)
        for number, said, run in _walk(text, cls, line):
            before = run.state()
            run.read(said)
            yield number, said, run.taken_for(before)

    @property
    def unfinished(self) -> str:
        """What a report lacks that has begun."""
        return f"report of {self.tool} cut off or not finished"

    def _remedy(self, text: str) -> str:
        hints = (hint for part, hint in self.remedies if part in text)
        return next(hints, "repair what it names and run the trial again")

    def _first_strange(self) -> str:
        return "".join(f"; line {n}: {quote(text)}" for n, text in self._strange[:1])

    def _strange_lines(self) -> Iterator[str]:
        for number, text in self._strange:
            yield f"Line {number} is not of {self.tool}: {quote(text)}."
        if more := self._strange_count - len(self._strange):
            yield f"{more} more lines are not of {self.tool}."


def _trials(text: bytes, kind: type[TextRun], first: int) -> Iterator[Report | Reject]:
    current: TextRun | None = None
    for _, line, trial in _walk(text, kind, first):
        if current is not None and trial is not current:
            yield current.conclude()
        current = trial
        trial.read(line)
    yield (current or kind()).conclude()


def _walk(text: bytes, kind: type[TextRun], first: int = 1) -> Iterator[tuple[int, str, TextRun]]:
    """Yield number and text of every line, and the trial that is to read it."""
    trial = kind()
    for number, line, ended in lines(text, first):
        if trial.line and trial.begins_with(line):
            trial = kind()
        trial.here, trial.ended = number, ended
        yield number, line, trial
