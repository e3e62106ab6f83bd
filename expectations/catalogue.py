"""All expectations in one place: what a finding means, and the handbook page that lists them."""

from __future__ import annotations

from typing import Final

from dropline.expectations import lake, marts
from dropline.expectations.suite import SEVERITIES, Expectation, Kind, Suite

SUITES: Final[tuple[Suite, ...]] = (*lake.SUITES, *marts.SUITES)
EXPECTATIONS: Final[dict[str, Expectation]] = {
    expectation.code: expectation for suite in SUITES for expectation in suite.expectations
}

_HEAD: Final = """\
# Quality: what the gate expects

Great Expectations holds two places against the expectations below: every batch of the lake, once,
before `dropline build` runs the models; and the new warehouse, before it replaces the old one.
The structure of the data (keys, types, relations, accepted values) is held by dbt's contracts and
tests.

- **critical**: the number cannot be. The build stops and names the rows; the published warehouse
  stays as it is. A critical row of a superseded file no longer counts: repair the file, ingest it
  again, build.
- **warning**: possible, but somebody should know. The finding stands in `quality_findings` with the
  trial, file or configuration concerned, and is shown wherever its figure is; the capacities that
  it concerns are marked `warn`.
- **info**: worth knowing. The finding is shown in the same places; no figure is marked.

Each expectation is declared once, as a class of Great Expectations with its arguments. DuckDB counts
the rows that fail it, in one scan of each table, so that thirty million rows need not fit a data
frame; Great Expectations judges the counts; the rows of what does not hold are then fetched and
become findings. That DuckDB and Great Expectations mean the same rows is tested.

The last results lie in `<home>/quality/gate.json`, the findings of each batch in
`<home>/quality/findings/`, and the same as pages of Great Expectations (Data Docs) in
`<home>/quality/docs/index.html`. When an expectation changes, the next build checks every batch
again.

This page is written by `python -m dropline.expectations.catalogue`.
"""


def reason_of(code: str) -> str:
    """Return the ground of the expectation that gives the finding `code`."""
    return EXPECTATIONS[code].reason


def page() -> str:
    """Return docs/reference/quality.md: every expectation with its severity and reason."""
    parts = [_HEAD]
    for suite in SUITES:
        rows = sorted(suite.expectations, key=lambda one: SEVERITIES.index(one.severity))
        parts += [
            f"\n## {suite.name}\n",
            "| finding | severity | what is looked at | why |",
            "|---|---|---|---|",
            *(f"| `{e.code}` | {e.severity} | {meaning(e)} | {e.reason} |" for e in rows),
        ]
    return "\n".join(parts) + "\n"


def meaning(expectation: Expectation) -> str:
    """Return in Markdown what an expectation looks at."""
    of = expectation.arguments
    match expectation.kind:
        case Kind.PAIR:
            return f"`{of['column_B']}` <= `{of['column_A']}`"
        case Kind.NOT_NULL:
            return f"`{of['column']}` is known"
        case Kind.IN_SET:
            return f"`{of['column']}` is a known word"
    low, high, column = of.get("min_value"), of.get("max_value"), f"`{of['column']}`"
    if low == high:
        return f"{column} = {low}"
    if high is None:
        return f"{column} {'>' if of.get('strict_min') else '>='} {low}"
    return f"{column} <= {high}" if low is None else f"{low} <= {column} <= {high}"


if __name__ == "__main__":
    print(page(), end="")
