"""Printable page of a plan: its Markdown with its chart."""

from pathlib import Path
from typing import Final

import altair as alt
import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup

from dropline.app import downloads, planner

_PAGE: Final = Path(__file__).parent / "plan.html"
_MARKDOWN: Final = MarkdownIt("zero").enable(["heading", "table", "escape"])  # names cannot become links or images


def page(found: planner.Answer, drawn: alt.LayerChart) -> str:
    """Return an answer as self-contained HTML, to print or to save as PDF in a browser."""
    answer, heading, parts = _MARKDOWN.render(planner.as_markdown(found)).partition("<h2>")
    texts = {"answer": answer, "parts": heading + parts, "picture": downloads.image(drawn)}
    template = jinja2.Template(_PAGE.read_text("utf-8"), undefined=jinja2.StrictUndefined, autoescape=True)
    return template.render({name: Markup(text) for name, text in texts.items()})  # noqa: S704 - escaped where made
