"""What can be taken away from a chart: its data as CSV and Parquet, its image, and the SQL behind it."""

from __future__ import annotations

import io
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow as pa
import streamlit as st

from dropline.app import export

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import altair as alt

CHART: Final = "chart"  # what the class of a chart's container begins with
_FORMS: Final = {"csv": ("CSV", "text/csv"), "parquet": ("Parquet", "application/vnd.apache.parquet")}
# The chart's own tool bar draws the image; it shows only under a pointer.
_SAVE_IMAGE: Final = f"""
export default function ({{ parentElement }}) {{
    const chart = parentElement.closest("[class*='st-key-{CHART}-']")
    parentElement.querySelector("button").onclick = () =>
        chart.querySelector("[aria-label^='Download as PNG']")?.click()
}}
"""
_BUTTON: Final = """
button {
    font: inherit; font-size: 0.875rem; min-height: 2.5rem; padding: 0 0.25rem;
    color: var(--st-text-color); background: none; border: none; border-radius: 0.25rem; cursor: pointer;
}
button:hover { color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); }
"""


def row(drawn: alt.LayerChart, key: str, asked: Collection[str]) -> None:
    """Offer what a chart draws, below it; nothing is written before it is asked for."""
    name = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for form, (label, mime) in _FORMS.items():
            st.download_button(
                label,
                partial(written, drawn, form),
                file_name=f"dropline-{name}.{form}",
                mime=mime,
                key=f"{key}-{form}",
                help=f"What the chart draws, as {label}",
                type="tertiary",
                icon=":material/download:",
                on_click="ignore",
            )
        _save_image(key)
        if asked:
            with st.popover("SQL behind this", type="tertiary", icon=":material/database:"):
                for question in asked:
                    st.code(question, language="sql")


def rows(drawn: alt.LayerChart) -> pd.DataFrame:
    """Return the rows that a chart draws, those of all its layers, each once."""
    return pd.concat(list(_frames(drawn)), ignore_index=True).drop_duplicates(ignore_index=True)


def _frames(drawn: Any) -> Iterator[pd.DataFrame]:
    for part in (drawn, *drawn.layer):
        if isinstance(part.data, pd.DataFrame):
            yield part.data


def written(drawn: alt.LayerChart, form: str) -> bytes:
    """Return what a chart draws, in one of the forms of `export`."""
    out = io.BytesIO()
    export.write(pa.Table.from_pandas(rows(drawn), preserve_index=False), form, out)
    return out.getvalue()


def _save_image(key: str) -> None:
    """Offer the chart as PNG, with its title."""
    html = '<button type="button" title="The chart as an image">PNG</button>'
    button = st.components.v2.component("chart_image", html=html, css=_BUTTON, js=_SAVE_IMAGE, isolate_styles=False)
    button(key=f"{key}-png", width="content")
