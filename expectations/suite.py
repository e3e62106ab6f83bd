"""The words of the gate: expectations, suites of them, and findings; plain data, cheap to read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

Severity = Literal["critical", "warning"]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that the rows of a table are expected to be.

    Attributes:
        code: the finding that a failing row gives; unique over all suites.
        severity: `critical` stops the build; `warning` is shown with the rows concerned.
        reason: the physical or logical ground, one sentence.
        detail: what to say of a failing row; a format string over the columns of the suite's query.
        kind: the class of great_expectations.expectations that decides.
        arguments: its arguments.

    """

    code: str
    severity: Severity
    reason: str
    detail: str
    kind: str
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The columns that the expectation looks at."""
        return [self.arguments[key] for key in ("column", "column_A", "column_B") if key in self.arguments]


@dataclass(frozen=True, slots=True)
class Suite:
    """The expectations of one table, and the SQL that puts the columns they need beside each other.

    The query gives `campaign`, `source_path` and `trial_id` (lake) or `configuration_id` (marts)
    where there are any: they tell whom a finding is about.
    """

    name: str
    query: str
    expectations: tuple[Expectation, ...]

    @property
    def columns(self) -> list[str]:
        """The columns that any of the expectations looks at, each once."""
        return list(dict.fromkeys(c for expectation in self.expectations for c in expectation.columns))


@dataclass(frozen=True, slots=True)
class Finding:
    """One row that fails an expectation. `detail` names the numbers."""

    finding: str
    severity: str
    batch: str | None
    campaign: str | None
    source_path: str | None
    trial_id: str | None
    detail: str
    configuration_id: str | None = None


class Words(TypedDict):
    """What every expectation says for itself; see Expectation."""

    code: str
    severity: Severity
    reason: str
    detail: str


def not_above(lower: str, upper: str, **words: Unpack[Words]) -> Expectation:
    """Expect column `lower` <= column `upper` wherever both are known."""
    pair = {"column_A": upper, "column_B": lower, "or_equal": True}
    ignore = {"ignore_row_if": "either_value_is_missing"}
    return Expectation(**words, kind="ExpectColumnPairValuesAToBeGreaterThanB", arguments=pair | ignore)


def at_least(column: str, low: float, **words: Unpack[Words]) -> Expectation:
    """Expect column >= `low` wherever it is known."""
    bound = {"column": column, "min_value": low}
    return Expectation(**words, kind="ExpectColumnValuesToBeBetween", arguments=bound)


def at_most(column: str, high: float, **words: Unpack[Words]) -> Expectation:
    """Expect column <= `high` wherever it is known."""
    bound = {"column": column, "max_value": high}
    return Expectation(**words, kind="ExpectColumnValuesToBeBetween", arguments=bound)


def above(column: str, low: float, **words: Unpack[Words]) -> Expectation:
    """Expect column > `low` wherever it is known."""
    bound = {"column": column, "min_value": low, "strict_min": True}
    return Expectation(**words, kind="ExpectColumnValuesToBeBetween", arguments=bound)


def between(column: str, low: float, high: float, **words: Unpack[Words]) -> Expectation:
    """Expect `low` <= column <= `high` wherever it is known."""
    bounds = {"column": column, "min_value": low, "max_value": high}
    return Expectation(**words, kind="ExpectColumnValuesToBeBetween", arguments=bounds)


def one_of(column: str, values: Iterable[str], **words: Unpack[Words]) -> Expectation:
    """Expect a column to hold one of `values` wherever it is known."""
    known = {"column": column, "value_set": sorted(values)}
    return Expectation(**words, kind="ExpectColumnValuesToBeInSet", arguments=known)


def present(column: str, **words: Unpack[Words]) -> Expectation:
    """Expect a column to be known in every row."""
    return Expectation(**words, kind="ExpectColumnValuesToNotBeNull", arguments={"column": column})


def fingerprint(suites: Iterable[Suite]) -> str:
    """Return the digest of all that decides about findings: another digest means checking again."""
    text = json.dumps([asdict(suite) for suite in suites], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
