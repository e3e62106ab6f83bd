"""The draft of a trial, which every reader fills in while it goes through a file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dropline.ingest.formats import OBSERVED, Report
from dropline.ingest.formats.text import MAX_SERIES
from dropline.ingest.records import Records

if TYPE_CHECKING:
    from dropline.ingest.formats import Observed, Row


@dataclass(slots=True)
class Draft:
    """What a reader has found out about one trial so far; what no source states stays None.

    Attributes:
        line: where the trial begins in the file, 0 before that is known.
        facts: columns of schema.TRIALS.
        details: what else is stated.
        observations: rows of schema.OBSERVATIONS.
        warnings: what a person should know, one sentence each.

    """

    line: int = 1
    facts: Row = field(default_factory=dict)
    details: Row = field(default_factory=dict)
    observations: list[Observed] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def observe(
        self, metric: str, value: float | None, unit: str, label: str | None = None, t_s: float | None = None
    ) -> None:
        """Add a row of schema.OBSERVATIONS, unless there is no value, or there are MAX_SERIES."""
        if value is not None and len(self.observations) < MAX_SERIES:
            # A whole number beyond 2^53 is none that Arrow takes for a double.
            self.observations.append((metric, label, t_s, float(value), unit))

    def report(self, *, completed: bool) -> Report:
        """Return the report; `completed` says whether it is whole and ended by itself."""
        details = json.dumps(self.details, sort_keys=True) if self.details else None
        if len(self.observations) == MAX_SERIES:
            self.warnings.append(f"Of what was observed the first {MAX_SERIES} values are kept.")
        return Report(
            line=self.line,
            facts={**self.facts, "completed": completed, "details": details},
            observations=Records.named(OBSERVED, self.observations),
            warnings=self.warnings,
        )
