"""The last results of the gate as Great Expectations' own pages (Data Docs), made to open without a network.

<quality>/docs/index.html                   every suite with its result
<quality>/docs/validations/.../<part>.html  the results of one suite
<quality>/docs/expectations/...             its expectations

The pages of Great Expectations load styles and scripts from seven content delivery networks, and show values of the
data unescaped. Here the values are escaped before they are handed over, and scripts, links and images are taken out; a
policy in every page (Content Security Policy, W3C) keeps the browser from loading or running anything.
"""

from __future__ import annotations

import json
import re
import shutil
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any, Final

from dropline.expectations.catalogue import SUITES, meaning
from dropline.expectations.validation import load

if TYPE_CHECKING:
    from pathlib import Path

    from dropline.expectations.suite import Expectation, Suite

    Result = dict[str, Any]  # of one suite, as it stands in gate.json

_SITE: Final = "gate"
_LOADED: Final = re.compile(
    r"<script\b.*?</script>|<link\b[^>]*>|<img\b[^>]*>| on[a-z]+=\"[^\"]*\"", re.DOTALL | re.IGNORECASE
)
_POLICY: Final = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)
_STYLE: Final = """
<style>
body {font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 0 auto; padding: 1rem}
table {border-collapse: collapse; margin: 0.5rem 0 1.5rem}
td, th {border: 1px solid #8884; padding: 0.25rem 0.6rem; text-align: left; vertical-align: top}
.alert {border-bottom: 2px solid #8884; margin-top: 1rem}
.card, .navbar, .btn, footer, [data-toggle=collapse] {display: none} /* what needs scripts to work */
i {font-style: normal; white-space: nowrap}
.fa-check-circle::before {content: "✓ holds"}
.fa-times::before {content: "✖ fails"}
@media (prefers-color-scheme: dark) {body {background: #111; color: #eee} a {color: #6bf}}
</style>
"""
_INDEX: Final = """<!DOCTYPE html>
<html lang="en">
<head>{policy}<meta charset="UTF-8"><title>Dropline: the last results of the gate</title>{style}</head>
<body>
<h1>The last results of the gate</h1>
<table>
<tr><th>Suite</th><th>Result</th><th>Expectations</th><th>Rows looked at</th><th>Checked</th></tr>
{rows}
</table>
</body>
</html>
"""


def write(quality: Path) -> Path:
    """Write the pages of the results in gate.json, in place of older ones, and return the first.

    Raises FileNotFoundError when the gate has not looked at this home yet.
    """
    results = {
        result["suite"]: (result, datetime.fromisoformat(part["checked_at"]))
        for part in json.loads((quality / "gate.json").read_text("utf-8")).values()
        for result in part["suites"]
    }
    checked = [(suite, *results[suite.name]) for suite in SUITES if suite.name in results]
    partial, docs = quality / "docs.partial", quality / "docs"
    shutil.rmtree(partial, ignore_errors=True)
    _build(partial, checked)
    shutil.rmtree(partial / "static")  # what only the scripts showed
    for page in partial.rglob("*.html"):
        page.write_text(_alone(page.read_text("utf-8")), "utf-8")
    rows = "\n".join(_row(partial, suite, result, at) for suite, result, at in checked)
    (partial / "index.html").write_text(_INDEX.format(policy=_POLICY, style=_STYLE, rows=rows), "utf-8")
    shutil.rmtree(docs, ignore_errors=True)
    partial.rename(docs)
    return docs / "index.html"


def _build(folder: Path, checked: list[tuple[Suite, Result, datetime]]) -> None:
    """Have Great Expectations write its pages into `folder`."""
    gx = load()
    from great_expectations.core import RunIdentifier
    from great_expectations.data_context.types.resource_identifiers import (
        ExpectationSuiteIdentifier,
        ValidationResultIdentifier,
    )

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    context.add_data_docs_site(
        _SITE,
        {
            "class_name": "SiteBuilder",
            "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(folder)},
            "site_section_builders": {"profiling": "None"},
        },
    )
    for suite, result, checked_at in checked:
        part, _, table = suite.name.partition("/")
        gx_suite = context.suites.add(
            gx.ExpectationSuite(
                name=f"{part}.{table}",
                expectations=[
                    getattr(gx.expectations, each.kind)(
                        **each.arguments, severity=each.severity, description=_words(each)
                    )
                    for each in suite.expectations
                ],
            )
        )
        run = RunIdentifier(run_name=_SITE, run_time=checked_at)
        key = ValidationResultIdentifier(ExpectationSuiteIdentifier(gx_suite.name), run, part)
        context.validation_results_store.set(key, _validation(suite, result, gx_suite, run))
    context.build_data_docs([_SITE], build_index=False)


def _validation(suite: Suite, result: Result, gx_suite: Any, run: Any) -> Any:
    """Return the result of a suite in the words of Great Expectations."""
    from great_expectations.core import ExpectationSuiteValidationResult, ExpectationValidationResult

    outcomes = []
    for each, declared in zip(suite.expectations, gx_suite.expectations, strict=True):
        failing = result["findings"].get(each.code, 0)
        outcomes.append(
            ExpectationValidationResult(
                success=not failing,
                expectation_config=declared.configuration,
                result={
                    "element_count": result["rows"],
                    "unexpected_count": failing,
                    "unexpected_percent": 100 * failing / max(result["rows"], 1),
                    "partial_unexpected_list": [escape(text) for text in result["examples"].get(each.code, [])],
                },
                exception_info={"raised_exception": False, "exception_message": None, "exception_traceback": None},
            )
        )
    return ExpectationSuiteValidationResult(
        success=not result["failures"],
        results=outcomes,
        suite_name=gx_suite.name,
        statistics={
            "evaluated_expectations": result["expectations"],
            "successful_expectations": result["successes"],
            "unsuccessful_expectations": result["failures"],
            "success_percent": 100 * result["successes"] / result["expectations"],
        },
        meta={"run_id": run},
    )


def _words(expectation: Expectation) -> str:
    said = f"{expectation.code} ({expectation.severity}): {meaning(expectation)}. {expectation.reason}"
    return escape(said.replace("`", ""), quote=False)


def _alone(page: str) -> str:
    """Take out of a page what would be loaded or run, and put in its style and policy."""
    return _LOADED.sub("", page).replace("<head>", f"<head>{_POLICY}", 1).replace("</head>", f"{_STYLE}</head>", 1)


def _row(folder: Path, suite: Suite, result: Result, checked_at: datetime) -> str:
    [page] = (folder / "validations" / suite.name).rglob("*.html")
    cells = (
        f'<a href="{page.relative_to(folder).as_posix()}">{suite.name}</a>',
        escape(result["severity"] or "holds"),
        f"{result['successes']} of {result['expectations']} hold",
        f"{result['rows']:,}",
        f"{checked_at:%Y-%m-%d %H:%M} UTC",
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
