"""Expectations, suites of them, and findings: plain data, cheap to import."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Severity = Literal["critical", "warning", "info"]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
_QUERIES: Final = Path(__file__).parent / "queries"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that every row of a suite's query must meet.

    Attributes:
        severity: `critical` stops the build; `warning` marks the figures concerned; `info` is shown beside them.
        holds: SQL over the columns of the query; a row fails where it is false, not where a value is unknown.
        detail: what to say of a failing row; a format string over the columns of the query.
        why: the physical or logical reason, one sentence.

    """

    severity: Severity
    holds: str
    detail: str
    why: str


critical = partial(Expectation, "critical")
warning = partial(Expectation, "warning")
info = partial(Expectation, "info")


@dataclass(frozen=True, slots=True)
class Suite:
    """The expectations of one table by the code of their finding, and the query whose rows must meet them.

    The query gives `campaign`, `source_path`, `trial_id` and, of marts, `configuration_id` and `loss_goal` where there
    are any: they tell what a finding is about. Of a long table it may leave the first two to `origins`, a table that
    has them by `batch` and `trial_id`; only the rows that fail are joined to it.
    """

    name: str
    query: str
    expectations: Mapping[str, Expectation]
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


def sql(name: str) -> str:
    """Return the SQL in queries/<name>.sql."""
    return (_QUERIES / f"{name}.sql").read_text("utf-8")


def suite(name: str, /, *, origins: str = "", **expectations: Expectation) -> Suite:
    """Return the suite of the query in queries/<name>.sql; each expectation is named after its finding."""
    return Suite(name, sql(name), expectations, origins)


def fingerprint(suites: Iterable[Suite]) -> str:
    """Return the digest of all that decides about findings: another digest means checking again."""
    text = json.dumps([asdict(suite) for suite in suites], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
