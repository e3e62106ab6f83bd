"""The words of the gate: expectations, suites of them, and findings; plain data, cheap to read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack, get_args

from dropline.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

Severity = Literal["critical", "warning", "info"]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)


class Kind(StrEnum):
    """The classes of great_expectations.expectations that say what is expected."""

    BETWEEN = "ExpectColumnValuesToBeBetween"
    IN_SET = "ExpectColumnValuesToBeInSet"
    NOT_NULL = "ExpectColumnValuesToNotBeNull"
    PAIR = "ExpectColumnPairValuesAToBeGreaterThanB"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that the rows of a table are expected to be.

    Attributes:
        code: the finding that a failing row gives; unique over all suites.
        severity: `critical` stops the build; `warning` marks the figures concerned; `info` is shown beside them.
        reason: the physical or logical ground, one sentence.
        detail: what to say of a failing row; a format string over the columns of the suite's query.
        kind: the class of Great Expectations that says it.
        arguments: its arguments.

    """

    code: str
    severity: Severity
    reason: str
    detail: str
    kind: Kind
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def fails(self) -> str:
        """The SQL predicate of the rows that the class finds unexpected, in a relation in which NaN is null."""
        of = self.arguments
        match self.kind:
            case Kind.PAIR:
                return f"{of['column_B']} > {of['column_A']}"
            case Kind.NOT_NULL:
                return f"{of['column']} is null"
            case Kind.IN_SET:
                words = ", ".join(map(quoted, of["value_set"]))
                return f"{of['column']} not in ({words})"
            case Kind.BETWEEN:
                below = "<=" if of.get("strict_min") else "<"
                bounds = ((below, of.get("min_value")), (">", of.get("max_value")))
                return " or ".join(f"{of['column']} {sign} {bound}" for sign, bound in bounds if bound is not None)


@dataclass(frozen=True, slots=True)
class Suite:
    """The expectations of one table, and the SQL that puts the columns they need beside each other.

    The query gives `campaign`, `source_path`, `trial_id` and, of marts, `configuration_id` and `loss_goal` where there
    are any: they tell whom a finding is about. Of a long table it may leave the first two to `origins`, a table that
    tells them by `batch` and `trial_id`: they are looked up for the rows that fail.
    """

    name: str
    query: str
    expectations: tuple[Expectation, ...]
    origins: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One row that fails an expectation. `detail` names the numbers.

    `loss_goal` is the goal of the capacity concerned; None concerns all capacities of the configuration.
    """

    finding: str
    severity: str
    batch: str | None
    campaign: str | None
    source_path: str | None
    trial_id: str | None
    detail: str
    configuration_id: str | None = None
    loss_goal: str | None = None


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
    return Expectation(**words, kind=Kind.PAIR, arguments=pair | ignore)


def at_least(column: str, low: float, **words: Unpack[Words]) -> Expectation:
    """Expect column >= `low` wherever it is known."""
    return Expectation(**words, kind=Kind.BETWEEN, arguments={"column": column, "min_value": low})


def at_most(column: str, high: float, **words: Unpack[Words]) -> Expectation:
    """Expect column <= `high` wherever it is known."""
    return Expectation(**words, kind=Kind.BETWEEN, arguments={"column": column, "max_value": high})


def above(column: str, low: float, **words: Unpack[Words]) -> Expectation:
    """Expect column > `low` wherever it is known."""
    bound = {"column": column, "min_value": low, "strict_min": True}
    return Expectation(**words, kind=Kind.BETWEEN, arguments=bound)


def between(column: str, low: float, high: float, **words: Unpack[Words]) -> Expectation:
    """Expect `low` <= column <= `high` wherever it is known."""
    bounds = {"column": column, "min_value": low, "max_value": high}
    return Expectation(**words, kind=Kind.BETWEEN, arguments=bounds)


def one_of(column: str, values: Iterable[str], **words: Unpack[Words]) -> Expectation:
    """Expect a column to hold one of `values` wherever it is known."""
    return Expectation(**words, kind=Kind.IN_SET, arguments={"column": column, "value_set": sorted(values)})


def present(column: str, **words: Unpack[Words]) -> Expectation:
    """Expect a column to be known in every row."""
    return Expectation(**words, kind=Kind.NOT_NULL, arguments={"column": column})


def fingerprint(suites: Iterable[Suite]) -> str:
    """Return the digest of all that decides about findings: another digest means checking again."""
    text = json.dumps([asdict(suite) for suite in suites], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
