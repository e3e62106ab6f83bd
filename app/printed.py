"""A plan as a printable page: its Markdown with its chart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import jinja2
import vl_convert
from markdown_it import MarkdownIt
from markupsafe import Markup

from dropline.app import planner

if TYPE_CHECKING:
    import altair as alt

_PAGE: Final = Path(__file__).parent / "plan.html"
_WIDTH: Final = 640  # pixels of the chart
_MARKDOWN: Final = MarkdownIt("zero").enable(["heading", "table", "escape"])  # names must not become links or images


def page(found: planner.Answer, drawn: alt.LayerChart) -> str:
    """Return an answer as self-contained HTML, for a browser to print or save as PDF."""
    answer, heading, parts = _MARKDOWN.render(planner.as_markdown(found)).partition("<h2>")
    picture = vl_convert.vegalite_to_svg(drawn.properties(width=_WIDTH).to_dict())
    texts = {"answer": answer, "parts": heading + parts, "picture": picture}
    template = jinja2.Template(_PAGE.read_text("utf-8"), undefined=jinja2.StrictUndefined, autoescape=True)
    return template.render({name: Markup(text) for name, text in texts.items()})  # noqa: S704 - escaped where made
