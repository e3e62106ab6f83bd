"""The report as one HTML file that needs nothing else: style and charts inside, no script."""

from __future__ import annotations

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
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.tests |= {name: lambda block, kind=kind: isinstance(block, kind) for name, kind in KINDS.items()}
    return templates.get_template("template.html").render(report=report, svg=_svg)


def _svg(chart: Chart, key: str) -> Markup:
    return Markup(figures.svg(chart, key))  # noqa: S704 - built as a tree, which escapes what it holds
