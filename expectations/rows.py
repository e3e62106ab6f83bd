"""The rows of a suite's query in DuckDB: how many fail each expectation, and which they are.

Great Expectations would need all of them in memory; here they are counted in one scan, which keeps only those that
fail.
"""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import duckdb

from dropline.expectations.suite import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dropline.expectations.suite import Expectation, Suite

FETCHED_ROWS: Final = 100_000
_SUBJECT: Final = ("batch", "campaign", "source_path", "trial_id", "configuration_id", "loss_goal")


class Profile(NamedTuple):
    """What one scan tells of a suite's rows: how many there are, and how many fail, by the expectation's code."""

    rows: int
    failing: dict[str, int]


def profiles(connection: duckdb.DuckDBPyConnection, suite: Suite) -> dict[str | None, Profile]:
    """Count the rows of a suite and those that fail each expectation, in one scan; `findings` tells which they are.

    Returns a profile for every batch that has rows; a query without a `batch` gives the one profile of None.
    """
    known, columns = _known(connection, suite)
    flags = {f"fails_{place}": each for place, each in enumerate(suite.expectations)}
    tested = ", ".join(f"coalesce({each.fails}, false) as {flag}" for flag, each in flags.items())
    told = {*_SUBJECT, *(name for each in suite.expectations for _, name, _, _ in _WORDS.parse(each.detail) if name)}
    kept = ", ".join(f"{name} := {name}" for name in [*flags, *sorted(told & {*columns} - {"batch"})])
    connection.execute(f"""
        create or replace temp table {_table(suite)} as
        select
            {"batch" if "batch" in columns else "null"} as batch,
            count(*) as rows,
            {", ".join(f"count(*) filter (where {flag})" for flag in flags)},
            list(struct_pack({kept})) filter (where {" or ".join(flags)}) as failing
        from (select *, {tested} from ({known}))
        group by all
    """)  # noqa: S608 - ours
    counted = connection.table(_table(suite)).select(duckdb.StarExpression(exclude=["failing"]))
    codes = [each.code for each in suite.expectations]
    return {
        batch: Profile(rows, dict(zip(codes, failing, strict=True))) for batch, rows, *failing in counted.fetchall()
    }


def findings(connection: duckdb.DuckDBPyConnection, suite: Suite, failed: Sequence[Expectation]) -> Iterator[Finding]:
    """Yield a finding for every row of the last `profiles` of a suite that fails one of the expectations `failed`."""
    if not failed:
        return
    failing = connection.table(_table(suite)).select("batch, unnest(failing, recursive := true)")
    if suite.origins:
        origins = connection.table(suite.origins).select("batch", "trial_id", "campaign", "source_path")
        failing = failing.join(origins, "batch, trial_id", "left")
    tests = {f"fails_{suite.expectations.index(each)}": each for each in failed}
    for some in failing.to_arrow_reader(FETCHED_ROWS):
        for row in some.to_pylist():
            subject = {key: row.get(key) for key in _SUBJECT}
            for flag, each in tests.items():
                if row[flag]:
                    detail = _WORDS.vformat(each.detail, (), row)
                    yield Finding(each.code, each.severity, detail=detail, **subject)


def _table(suite: Suite) -> str:
    return f'"failing {suite.name}"'


def _known(connection: duckdb.DuckDBPyConnection, suite: Suite) -> tuple[str, list[str]]:
    """Return the suite's query with null for NaN, and its columns: to Great Expectations such a value is missing."""
    relation = connection.sql(suite.query)
    typed = zip(relation.columns, relation.types, strict=True)
    numbers = [name for name, kind in typed if str(kind) in ("DOUBLE", "FLOAT")]
    replaced = ", ".join(f"if(isnan({name}), null, {name}) as {name}" for name in numbers)
    return f"select * {f'replace ({replaced}) ' if replaced else ''}from ({suite.query})", relation.columns


class _Words(Formatter):
    """Formats like str.format, but writes a value that is not known as `unknown`, whatever its format is."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return "unknown" if value is None else str(super().format_field(value, format_spec))


_WORDS: Final = _Words()
