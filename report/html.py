"""The report as one self-contained HTML file: style and charts inside, no script."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import jinja2
from markupsafe import Markup

from dropline.report import figures
from dropline.report.sections import Chart, Paragraph, Points, Table

if TYPE_CHECKING:
    from dropline.report.sections import Report

KINDS: Final = {"paragraph": Paragraph, "points": Points, "table": Table, "chart": Chart}


def render(report: Report) -> str:
    """Return the report as an HTML document; every text is escaped by the template."""
    return _templates().get_template("template.html").render(report=report, svg=svg)


def svg(chart: Chart, key: str) -> Markup:
    """Draw a chart as an `svg` element; `key` begins the ids in it and is unique in the page."""
    drawn = _templates().get_template("chart.svg").render(chart=chart, key=key, **figures.plot(chart))
    return Markup(drawn)  # noqa: S704 - escaped by the template


@cache
def _templates() -> jinja2.Environment:
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.tests |= {name: lambda block, kind=kind: isinstance(block, kind) for name, kind in KINDS.items()}
    templates.filters["at"] = "{:.1f}".format
    return templates
