"""Draft of a trial, which every reader fills in while it parses a file."""

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from dropline import beside
from dropline.ingest.formats import Observation, Report, Row
from dropline.ingest.formats.text import MAX_SERIES, quote

_REMEDIES: Final = beside.words(__file__, "remedies")


def remedy(tool: str, error: str) -> str:
    """Return what to do about an error of a tool."""
    found = (hint for part, hint in _REMEDIES.get(tool, {}).items() if part in error)
    return next(found, "repair what it names and run the trial again")


@dataclass(slots=True)
class Tally:
    """Lines of one kind: their number, the first few with line numbers, and the last line number."""

    count: int = 0
    first: list[tuple[int, str]] = field(default_factory=list)
    last: int = 0

    def add(self, number: int, text: str) -> None:
        """Count one line."""
        self.count += 1
        self.last = number
        if len(self.first) < 3:
            self.first.append((number, text))

    @property
    def mentioned(self) -> str:
        """First line as the end of a sentence; empty if there is none."""
        return "".join(f"; line {number}: {quote(text)}" for number, text in self.first[:1])


@dataclass(slots=True)
class Draft:
    """Data of one trial so far; missing values are None."""

    line: int = 1  # first line of the trial in the file, 0 if not known yet
    facts: Row = field(default_factory=dict)  # columns of schema.TRIALS
    details: Row = field(default_factory=dict)  # everything else in the report
    observations: list[Observation] = field(default_factory=list)  # rows of schema.OBSERVATIONS
    warnings: list[str] = field(default_factory=list)  # notes for the user, one sentence each

    def observe(
        self, metric: str, value: float | None, unit: str, label: str | None = None, t_s: float | None = None
    ) -> None:
        """Add a row of schema.OBSERVATIONS, unless the value is None or there are MAX_SERIES rows."""
        if value is not None and len(self.observations) < MAX_SERIES:
            # A float, as Arrow does not convert integers beyond 2^53 to double.
            self.observations.append(Observation(metric, label, t_s, float(value), unit))

    def observe_percentiles(self, buckets: Sequence[tuple[float | None, int]]) -> None:
        """Add latency percentiles by nearest rank; a bucket has its upper bound in ms and its number of answers."""
        within = [*accumulate(answers for _, answers in buckets)]
        for percent in (50, 90, 95, 99):
            rank = -(-percent * within[-1] // 100)
            self.observe(f"latency_p{percent}", buckets[bisect_left(within, rank)][0], "ms")
        self.observe("latency_percentiles_of", within[-1], "responses")

    def report(self, *, completed: bool) -> Report:
        """Return the report; `completed` means that it is complete and the tool ended by itself."""
        details = json.dumps(self.details, sort_keys=True) if self.details else None
        if len(self.observations) == MAX_SERIES:
            self.warnings.append(f"Only the first {MAX_SERIES} observed values are kept.")
        facts = {**self.facts, "completed": completed, "details": details}
        return Report(self.line, facts, observations=self.observations, warnings=self.warnings)
