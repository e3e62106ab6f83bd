"""Rendering of a report: as one HTML file, with style and charts inside and no script, or as Markdown."""

import re
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

import jinja2
from markupsafe import Markup

from dropline.app import downloads
from dropline.progress import Progress, unseen
from dropline.report.sections import Chart, Report

# Markup characters within a line. Dots and hyphens need no escape there, so figures stay readable in the source.
_MEANT: Final = re.compile(r"([\\`*_\[\]<>|~$&#@])")
_ID: Final = re.compile(r'(?<=id=")|(?<=url\(#)')
_WIDTH, _HEIGHT = 560, 280  # pixels of a chart without its labels


def html(report: Report, progress: Progress = unseen) -> str:
    """Return the report as HTML, in which the template escapes every text; call `progress` after each chart."""
    total = sum(isinstance(block, Chart) for section in report.sections for block in section.blocks)
    numbers = count(1)

    def drawn(chart: Chart, key: str) -> Markup:
        progress(next(numbers), total)
        return svg(chart, key)

    return _templates().get_template("template.html").render(report=report, svg=drawn)


def markdown(report: Report) -> str:
    """Return the report as GitHub-flavoured Markdown with a sentence per chart; every text is escaped."""
    return _templates().get_template("template.md").render(report=report)


def svg(chart: Chart, key: str) -> Markup:
    """Draw a chart as an `svg` element; `key` begins the ids in it and is unique in the page."""
    drawn = downloads.image(chart.drawn.properties(height=_HEIGHT), _WIDTH)
    return Markup(_ID.sub(f"{key}-", drawn))  # noqa: S704 - escaped by Vega


@cache
def _templates() -> jinja2.Environment:
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    templates.filters["escaped"] = lambda text: _MEANT.sub(r"\\\1", " ".join(text.split()))
    return templates
