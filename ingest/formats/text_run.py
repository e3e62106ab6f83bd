"""Parser base for text output: the lines of one process, and the resulting trial."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Final

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


class TextRun(Draft, ABC):
    """The data of one process so far; the base class of every tool's parser.

    Attributes:
        here: the current line number; `ended` whether the line has its newline; `line` is the tool's first line, 0
        before. error: the error that the tool printed; `usage` whether it printed its usage. interrupted: whether the
        text contains a Ctrl-C. doubts: inconsistencies of the report; with any it does not count as complete. silence:
        explanation and advice if the tool printed nothing.

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
        """Return whether `line` belongs to a new process."""

    @abstractmethod
    def take(self, line: str) -> bool:
        """Parse `line`; return False if it is not from the tool."""

    @abstractmethod
    def conclude(self) -> Report | Reject:
        """Return the report, or a reject."""

    def read(self, line: str) -> None:
        """Parse one line; record it if it is invalid here."""
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

    def explained(self, line: str) -> str:
        """Parse one line, and describe how it was interpreted."""
        facts, observed, strange = dict(self.facts), len(self.observations), self._strange_count
        error, usage = self.error, self.usage
        self.read(line)
        if self._strange_count > strange:
            return f"not of {self.tool}"
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
        """Return the report; `completed` says whether it is complete and the tool ended by itself."""
        if self.error:
            self.warnings.append(f"Line {self.error[0]} reports an error: {quote(self.error[1])}.")
        if self.interrupted:
            self.warnings.append("The trial was interrupted by Ctrl-C.")
        self.warnings += (*self.doubts, *self._strange_lines())
        return super().report(completed=completed and not self.interrupted and not self.doubts)

    def add_up(self, interrupted: int = 0) -> None:
        """Add a doubt if the counters are inconsistent; unknown ones are not checked."""
        sent, received, dropped = (self.facts[name] for name in ("sent", "received", "dropped"))
        if None not in (sent, received, dropped) and sent != received + dropped + interrupted:
            self.doubts.append(f"{sent} were sent, and {received + dropped + interrupted} are accounted for.")

    def reject(self) -> Reject:
        """Return a reject that depends on how far the output got."""
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
            reason = f"no output of {self.tool} was recognised{self._first_strange()}"
            return Reject(self._strange[0][0], reason, self.expected)
        return Reject(1, *(self.silence or ("there is no text in it", self.expected)))

    @classmethod
    def parse(cls, data: bytes, line: int = 1) -> Iterator[Report | Reject]:
        """Yield the result of each process in `data`, in order; the text begins at line `line`.

        Accepts UTF-8, UTF-16 with a byte order mark, and gzip of these, with LF, CRLF or CR. Never raises for bad
        input; more than MAX_TEXT_BYTES of text is one reject.
        """
        advice = "split the file between two reports, or log fewer lines"
        return parts(data, lambda text: _trials(text, cls, line), advice)

    @classmethod
    def explain(cls, data: bytes, line: int = 1) -> Iterator[tuple[int, str, str]]:
        """Yield (number, text, interpretation) of every line that is not blank; parses like `parse`."""
        text, _ = unpack(data, MAX_TEXT_BYTES)
        for number, said, run in _walk(text, cls, line):
            yield number, said, run.explained(said)

    @property
    def unfinished(self) -> str:
        """The missing part of a report that has begun."""
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
    """Yield number and text of every line, and the trial that should parse it."""
    trial = kind()
    for number, line, ended in lines(text, first):
        if trial.line and trial.begins_with(line):
            trial = kind()
        trial.here, trial.ended = number, ended
        yield number, line, trial
