"""Expectations, suites and findings as plain data, cheap to import."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, get_args

import yaml

Severity = Literal["critical", "warning", "info"]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
_QUERIES: Final = Path(__file__).parent / "queries"


@dataclass(frozen=True, slots=True)
class Expectation:
    """A condition that every row of a suite's query must meet."""

    severity: Severity  # `critical` stops the build; `warning` marks the affected figures; `info` is shown beside them
    holds: str  # SQL over the columns of the query; a row fails if this is false, not if it is null
    detail: str  # message about a failing row; a format string over the columns of the query
    why: str  # the physical or logical reason, one sentence


@dataclass(frozen=True, slots=True)
class Suite:
    """A query, and the expectations that its rows must meet, by the code of their finding.

    The query returns the subject of a finding: `campaign`, `source_path`, `trial_id` and, for marts, `configuration_id`
    and `loss_goal` if any. For a long table, the first two may come from `origins`, a table that has them by `batch`
    and `trial_id`; only failing rows are joined to it.
    """

    name: str
    query: str
    expectations: Mapping[str, Expectation]
    origins: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One row that fails an expectation."""

    finding: str
    severity: str
    batch: str | None
    campaign: str | None
    source_path: str | None
    trial_id: str | None
    detail: str  # states the numbers
    configuration_id: str | None = None
    loss_goal: str | None = None  # of the affected capacity; None means all capacities of the configuration


def sql(name: str) -> str:
    """Return the SQL in queries/<name>.sql."""
    return (_QUERIES / f"{name}.sql").read_text("utf-8")


def suite(name: str, origins: str = "") -> Suite:
    """Return the suite of the query in queries/<name>.sql and the expectations in <name>.yml beside it."""
    declared = yaml.load((_QUERIES / f"{name}.yml").read_text("utf-8"), yaml.CSafeLoader)
    return Suite(name, sql(name), {code: _expectation(**each) for code, each in declared.items()}, origins)


def _expectation(*, detail: str, why: str, **condition: str) -> Expectation:
    [(severity, holds)] = condition.items()
    return Expectation(SEVERITIES[SEVERITIES.index(severity)], holds, detail, why)


def fingerprint(suites: Iterable[Suite]) -> str:
    """Return the digest of everything that affects findings; a new digest requires a new check."""
    text = json.dumps([asdict(suite) for suite in suites], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


# The queries read several batches at once, but join rows only within a `batch`, as a trial may be in several. They
# also read `known_hosts` (host_id, nic_speed_mbps, cpu_threads).
LAKE: Final[tuple[Suite, ...]] = (
    *map(suite, ("lake/trials", "lake/exchanges")),
    suite("lake/intervals", origins="trials"),
    *map(suite, ("lake/observations", "lake/cpu", "lake/hosts", "lake/server_configs", "lake/raw_files")),
    *map(suite, ("lake/rejects", "lake/campaigns", "lake/figures")),
)
# The queries read the tables of a warehouse and the current rows of the lake that it was built from: `lake_trials`
# (trial_id) and `lake_findings` (finding, severity, trial_id).
MARTS: Final[tuple[Suite, ...]] = (
    *map(suite, ("marts/trials", "marts/copies", "marts/trial_counters", "marts/configurations", "marts/run_steps")),
    *map(suite, ("marts/capacity", "marts/leases_per_second", "marts/ratios", "marts/published_figures")),
)
