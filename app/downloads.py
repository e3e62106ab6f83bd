"""Menu below a chart: its data, the SQL behind it, and its image as SVG; the chart's own tool bar offers PNG."""

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import quote

import altair as alt
import pandas as pd
import pyarrow as pa
import streamlit as st

from dropline.app import output_formats

LONGEST_LINK: Final = 6000  # characters of an address; some mail programs and proxies cut longer ones
FORMS: Final = {
    "csv": ("CSV", "text/csv"),
    "parquet": ("Parquet", "application/vnd.apache.parquet"),
    "svg": ("SVG", "image/svg+xml"),
}
_WIDTH: Final = 640  # pixels of an image, without its labels


def menu(drawn: alt.LayerChart, key: str, asked: Collection[str]) -> None:
    """Show the menu of a chart; files are written only when the visitor asks for them."""
    name = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")
    with st.popover("Data and SQL" if asked else "Data", type="tertiary", icon=":material/download:"):
        with st.container(horizontal=True, gap="small"):
            for form, (label, mime) in FORMS.items():
                tip = f"{'The image' if form == 'svg' else 'The data of the chart'}, as {label}"
                file, content = f"dropline-{name}.{form}", partial(written, drawn, form)
                button(label, content, file, mime, key=f"{key}-{form}", help=tip)
        for question in asked:
            sql(question)
            if len(quote(question)) <= LONGEST_LINK:
                st.page_link("views/sql.py", label="Open in SQL", query_params={"sql": question})


def button(label: str, content: bytes | Callable[[], bytes | str], file: str, mime: str, **shown: Any) -> None:
    """Offer a file for download without rerunning the page; a function as content is called on demand."""
    st.download_button(label, content, file, mime, icon=":material/download:", on_click="ignore", **shown)


def sql(question: str) -> None:
    """Show a query without Streamlit's colours, which are too pale, and tool bar, which no Tab reaches."""
    st.code(question, language=None, wrap_lines=True)


def rows(drawn: alt.LayerChart) -> pd.DataFrame:
    """Return the distinct rows of all layers of a chart."""
    return together([part.data for part in (drawn, *drawn.layer) if isinstance(part.data, pd.DataFrame)])


def together(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all frames, each once."""
    return pd.concat(frames, ignore_index=True).drop_duplicates(ignore_index=True)


def written(drawn: alt.LayerChart, form: str) -> bytes:
    """Return a chart as an SVG image, or its data in one of the output formats."""
    if form == "svg":
        return image(drawn).encode()
    return output_formats.encoded(pa.Table.from_pandas(rows(drawn), preserve_index=False), form)


def image(drawn: alt.LayerChart, width: int = _WIDTH) -> str:
    """Return a chart as SVG; `width` in pixels, without its labels."""
    import vl_convert

    drawn = drawn.properties(width=width).to_dict()
    return vl_convert.vegalite_to_svg(output_formats.printable(drawn))  # it aborts at characters invalid in XML
