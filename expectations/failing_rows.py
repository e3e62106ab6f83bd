"""Failing rows of a suite, counted and stored in one scan of its query by DuckDB."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from string import Formatter
from typing import Any, Final

import duckdb

from dropline.expectations.suite import Finding, Suite

FETCHED_ROWS: Final = 100_000
_SUBJECT: Final = ("batch", "campaign", "source_path", "trial_id", "configuration_id", "loss_goal")


def count_failing(connection: duckdb.DuckDBPyConnection, suite: Suite) -> dict[str, int]:
    """Return the number of rows that fail each expectation of a suite, and store them in a table for `findings`."""
    known, columns = _known(connection, suite)
    flags = ", ".join(
        f"coalesce(not ({each.holds}), false) as fails_{code}" for code, each in suite.expectations.items()
    )
    fails = [f"fails_{code}" for code in suite.expectations]
    mentioned = {name for each in suite.expectations.values() for _, name, _, _ in _WORDS.parse(each.detail) if name}
    kept = ", ".join([*fails, *sorted({*_SUBJECT, *mentioned} & {*columns})])
    connection.execute(f"""
        create or replace temp table {_table(suite)} as
        select {kept}
        from (select *, {flags} from ({known}))
        where {" or ".join(fails)}
    """)  # noqa: S608 - ours
    counts = ", ".join(f"count(*) filter (where {flag})" for flag in fails)
    [counted] = connection.table(_table(suite)).aggregate(counts).fetchall()
    return dict(zip(suite.expectations, counted, strict=True))


def failed(suites: Sequence[Suite], counts: Mapping[str, int]) -> set[str]:
    """Return the expectations with failing rows, like validation.failed but without its slow import."""
    return {code for suite in suites for code in suite.expectations if counts[code]}


def findings(connection: duckdb.DuckDBPyConnection, suite: Suite, failed: Collection[str]) -> Iterator[Finding]:
    """Yield a finding for every row stored by `count_failing` that fails one of the expectations in `failed`."""
    expectations = {code: each for code, each in suite.expectations.items() if code in failed}
    if not expectations:
        return
    failing = connection.table(_table(suite))
    if suite.origins:
        origins = connection.table(suite.origins).select("batch", "trial_id", "campaign", "source_path")
        failing = failing.join(origins, "batch, trial_id", "left")
    for some in failing.to_arrow_reader(FETCHED_ROWS):
        for row in some.to_pylist():
            subject = {key: row.get(key) for key in _SUBJECT}
            for code, each in expectations.items():
                if row[f"fails_{code}"]:
                    yield Finding(code, each.severity, detail=_WORDS.vformat(each.detail, (), row), **subject)


def _table(suite: Suite) -> str:
    return f'"failing {suite.name}"'


def _known(connection: duckdb.DuckDBPyConnection, suite: Suite) -> tuple[str, list[str]]:
    """Return the suite's query with NaN replaced by null, as both mean unknown, and its columns."""
    relation = connection.sql(suite.query)
    typed = zip(relation.columns, relation.types, strict=True)
    numbers = [name for name, kind in typed if str(kind) in ("DOUBLE", "FLOAT")]
    replaced = ", ".join(f"if(isnan({name}), null, {name}) as {name}" for name in numbers)
    return f"select * {f'replace ({replaced}) ' if replaced else ''}from ({suite.query})", relation.columns


class _Words(Formatter):
    """Format like str.format, but write unknown values as `unknown`, whatever their format."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return "unknown" if value is None else str(super().format_field(value, format_spec))


_WORDS: Final = _Words()
