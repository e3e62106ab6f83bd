"""The rows of a suite's query in DuckDB: how many fail each expectation, and which they are.

Great Expectations would need all of them in memory; here they are counted in one scan, and only those that fail are
fetched.
"""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from expectations.suite import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

    from expectations.suite import Expectation, Suite

FETCHED_ROWS: Final = 100_000
_SUBJECT: Final = ("batch", "campaign", "source_path", "trial_id", "configuration_id", "loss_goal")


class Profile(NamedTuple):
    """What one scan tells of a suite's rows: how many there are, and how many fail, by the expectation's code."""

    rows: int
    failing: dict[str, int]


def profiles(connection: duckdb.DuckDBPyConnection, suite: Suite) -> dict[str | None, Profile]:
    """Count the rows of a suite and those that fail each expectation, in one scan.

    Returns a profile for every batch that has rows; a query without a `batch` gives the one profile of None.
    """
    counts = [f"count(*) filter (where {each.fails})" for each in suite.expectations]
    known = _known(connection, suite)
    batch = "batch" if "batch" in connection.sql(suite.query).columns else "null"
    query = f"select {batch}, count(*), {', '.join(counts)} from ({known}) group by 1"  # noqa: S608 - ours
    codes = [each.code for each in suite.expectations]
    return {
        batch: Profile(rows, dict(zip(codes, failing, strict=True)))
        for batch, rows, *failing in connection.execute(query).fetchall()
    }


def findings(connection: duckdb.DuckDBPyConnection, suite: Suite, failed: Sequence[Expectation]) -> Iterator[Finding]:
    """Yield a finding for every row that fails one of the expectations `failed` of a suite."""
    if not failed:
        return
    tests = {f"fails_{place}": each for place, each in enumerate(failed)}
    flags = ", ".join(f"coalesce({each.fails}, false) as {flag}" for flag, each in tests.items())
    query = f"""
        select * from (select *, {flags} from ({_known(connection, suite)}))
        where {" or ".join(tests)}
    """  # noqa: S608 - ours
    for some in connection.sql(query).to_arrow_reader(FETCHED_ROWS):
        for row in some.to_pylist():
            subject = {key: row.get(key) for key in _SUBJECT}
            for flag, each in tests.items():
                if row[flag]:
                    detail = _WORDS.vformat(each.detail, (), row)
                    yield Finding(each.code, each.severity, detail=detail, **subject)


def _known(connection: duckdb.DuckDBPyConnection, suite: Suite) -> str:
    """Return the suite's query with null for NaN: to Great Expectations, too, such a value is missing."""
    relation = connection.sql(suite.query)
    typed = zip(relation.columns, relation.types, strict=True)
    numbers = [name for name, kind in typed if str(kind) in ("DOUBLE", "FLOAT")]
    replaced = ", ".join(f"if(isnan({name}), null, {name}) as {name}" for name in numbers)
    return f"select * {f'replace ({replaced}) ' if replaced else ''}from ({suite.query})"


class _Words(Formatter):
    """Formats like str.format, but writes a value that is not known as `unknown`, whatever its format is."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return "unknown" if value is None else str(super().format_field(value, format_spec))


_WORDS: Final = _Words()
