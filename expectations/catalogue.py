"""Catalogue of all expectations, and the reference page that lists them."""

from __future__ import annotations

from typing import Final

from dropline.expectations.suite import LAKE, MARTS, SEVERITIES

SUITES: Final = (*LAKE, *MARTS)

_HEAD: Final = """\
# Quality: what the gate expects

The gate checks two places: every batch of the lake, once, before `dropline build` runs the models; and the new
warehouse, before it replaces the old one. Keys, types, relations and accepted values are checked by dbt's contracts and
tests.

- **critical**: the number is impossible. The build stops and names the rows; the published warehouse
  stays as it is. A critical row of a superseded file no longer counts: repair the file, ingest it
  again, build.
- **warning**: possible, but you should know. The finding appears in `quality_findings` with the
  trial, file or configuration concerned, and wherever its figure is shown; the capacities concerned are marked `warn`.
- **info**: worth knowing. The finding is shown in the same places; no figure is marked.

An expectation is a condition that every row of a query must meet, with a severity, the words of its finding and a
reason. In `expectations/queries` they are declared in a `.yml` file beside the `.sql` file of their query. DuckDB
counts the rows that fail and keeps them, in one scan of each query, so that thirty million rows need not fit a data
frame. The rows that were kept become findings, and a critical one stops the build; `dropline check` has Great
Expectations judge the counts. Where a value is unknown, the condition is not judged.

The last results are on the Quality page of the dashboard and in `<home>/quality/gate.json`, the findings of each batch
in `<home>/quality/findings/`. When an expectation changes, the next build checks every batch again.

This page is written by `python -m dropline.expectations.catalogue`.
"""


def reason_of(code: str) -> str:
    """Return the reason for the expectation behind the finding `code`."""
    return next(suite.expectations[code].why for suite in SUITES if code in suite.expectations)


def page() -> str:
    """Return docs/reference/quality.md: every expectation with its severity and reason."""
    parts = [_HEAD]
    for suite in SUITES:
        rows = sorted(suite.expectations.items(), key=lambda one: SEVERITIES.index(one[1].severity))
        parts += [
            f"\n## {suite.name}\n",
            "| finding | severity | expected | why |",
            "|---|---|---|---|",
            *(f"| `{code}` | {each.severity} | `{each.holds}` | {each.why} |" for code, each in rows),
        ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    print(page(), end="")
