"""What a page says and shows, read out of Streamlit's own test of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.testing.v1 import AppTest

KINDS = ("title", "header", "markdown", "caption", "info", "warning", "error", "success", "text", "code")


class Link(NamedTuple):
    """The page that a link leads to, and what it carries along."""

    page: str
    choices: dict[str, list[str]]


def said(app: AppTest) -> str:
    """Everything that a page says, without the signs that keep it from being Markdown; charts by their alternatives."""
    texts = [element.value for kind in KINDS for element in getattr(app, kind)]
    return "\n".join([*texts, *descriptions(app)]).replace("\\", "")


def rows(app: AppTest, column: str) -> pd.DataFrame:
    """The first table with this column."""
    return next(table.value for table in app.dataframe if column in table.value.columns)


def charts(app: AppTest) -> list[dict[str, Any]]:
    """The specifications of all charts."""
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def descriptions(app: AppTest) -> list[str]:
    """The text alternatives of all charts."""
    return [chart["description"] for chart in charts(app)]


def links(app: AppTest) -> dict[str, Link]:
    """The links to other pages, by their labels."""
    found = [link.proto for link in app.get("page_link")]
    return {link.label.replace("\\", ""): Link(link.page, parse_qs(link.query_string)) for link in found}
