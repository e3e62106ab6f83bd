"""What does the warehouse say to a question of your own?"""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import pandas as pd
import pyarrow as pa
import streamlit as st

from dropline.app import console, export, state, words
from dropline.app.bounded import Refused, TooMuch
from dropline.app.charts import quick
from dropline.app.queries import sql

if TYPE_CHECKING:
    from dropline.app.warehouse import Answer, Identity, Warehouse

FIRST: Final = """select configuration, lps, ci_low, ci_high, runs, quality
from leases_per_second
order by lps desc
limit 20"""
LONGEST_LINK: Final = 6000  # characters of the address; what lies above is cut by some mail programs and proxies
EDITOR_PIXELS: Final = 300
NO_COLOUR: Final = "no colour"


def main() -> None:
    """Draw the page."""
    _edit_and_answer()
    console.prepare()


def _edit_and_answer() -> None:
    st.title("SQL")
    warehouse = state.warehouse_or_stop()
    if state.went_back() or "asked" not in st.session_state:
        st.session_state["asked"] = st.query_params.get("sql", "")[: console.MOST_CHARACTERS]
        st.session_state.pop("sql_text", None)
    st.session_state.setdefault("sql_text", st.session_state["asked"] or FIRST)
    editor, browser = st.columns([3, 2], gap="large")
    with editor:
        _edit()
    with browser:
        _browse(warehouse)
    text = st.session_state["asked"]
    _put_into_address(text)
    if not text.strip():
        st.info("Write a question, or take one of the examples, and press Run.", icon=":material/terminal:")
        return
    answer = _answer(warehouse.identity, text)
    if isinstance(answer, str):
        st.error("The question was not answered. What to change:", icon=":material/block:")
        st.code(answer, language=None, wrap_lines=True)
        return
    _show(answer)


def _edit() -> None:
    examples = sql.examples()
    st.selectbox(
        "Examples",
        list(examples),
        index=None,
        key="example",
        placeholder=f"{len(examples)} worked questions",
        on_change=_take_example,
    )
    with st.form("editor", border=False):
        with state.reserved(EDITOR_PIXELS):
            st.text_area(
                "One SELECT (DuckDB's SQL)",
                key="sql_text",
                height=EDITOR_PIXELS,
                max_chars=console.MOST_CHARACTERS,
                help=_limits(),
            )
        st.form_submit_button("Run", icon=":material/play_arrow:", type="primary", on_click=_take_text)


def _limits() -> str:
    return (
        f"Read-only, without files or network. At most {console.SECONDS:g} s, {console.MOST_ROWS:,} rows and "
        f"{console.MOST_BYTES // 2**20} MiB of result. Ctrl-Enter runs it. For more: `dropline sql`, on this machine."
    )


def _take_example() -> None:
    chosen = st.session_state["example"]
    if chosen:
        st.session_state["sql_text"] = st.session_state["asked"] = sql.examples()[chosen]


def _take_text() -> None:
    st.session_state["asked"] = st.session_state["sql_text"]


def _put_into_address(text: str) -> None:
    if text.strip() and len(quote(text)) <= LONGEST_LINK:
        st.query_params["sql"] = text
    elif "sql" in st.query_params:
        del st.query_params["sql"]


def _browse(warehouse: Warehouse) -> None:
    tables = sql.tables(warehouse)
    table = state.choose_one("Table", "table", {name: name for name in tables})
    if table is not None:
        st.text(tables[table] or "No description.")
        columns = sql.columns(warehouse, table).to_pandas()
        columns.columns = ["Column", "Type", "Meaning"]
        state.table(columns, alt=f"Columns of {table}", key=f"columns-{table}", height=300)
    with st.expander("Functions of the warehouse"):
        functions = sql.functions(warehouse).to_pandas()
        functions.columns = ["Call", "Meaning"]
        state.table(functions, alt="Functions of the warehouse", key="functions", height="content")


@st.cache_data(max_entries=16, ttl=600, show_spinner="Asking the warehouse ...")
def _answer(identity: Identity, text: str) -> Answer | str:
    """Return the answer, or why there is none; kept, so that the choices of the chart ask nothing anew."""
    try:
        return console.ask(identity.path, text)
    except (Refused, TooMuch) as error:
        return str(error)


def _show(answer: Answer) -> None:
    rows = _presentable(answer.rows)
    st.text(f"{rows.num_rows:,} row{'' if rows.num_rows == 1 else 's'}, {rows.num_columns} columns")
    if answer.cut:
        st.warning(
            f"There are more rows: an answer here ends after {console.MOST_ROWS:,} rows or "
            f"{console.MOST_BYTES // 2**20} MiB. Narrow it with `where` or `limit`, or sum it up."
        )
    if len(quote(st.session_state["asked"])) > LONGEST_LINK:
        st.caption("The question is too long for the address of this page: share its text instead.")
    else:
        st.caption("The address of this page holds the question: who opens it gets the answer of today.")
    if not rows.num_rows:
        st.info("The question is understood, and no row answers it. Loosen its `where`.")
        return
    st.dataframe(rows, hide_index=True, key="answer", alt="Answer to the question")
    with st.container(horizontal=True):
        for form, mime in (("csv", "text/csv"), ("parquet", "application/vnd.apache.parquet")):
            st.download_button(
                f"Save as {form.upper() if form == 'csv' else 'Parquet'}",
                partial(_exported, rows, form),
                f"answer.{form}",
                mime,
                icon=":material/download:",
                on_click="ignore",
            )
    _draw(rows.to_pandas(timestamp_as_object=False))


def _presentable(rows: pa.Table) -> pa.Table:
    """Return the rows with names of their own, and as text what neither a grid nor a file can hold."""
    names: list[str] = []
    for name in rows.column_names:
        names.append(name if name not in names else f"{name}_{len(names) + 1}")
    columns = [
        pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.string())
        if pa.types.is_interval(column.type) or pa.types.is_union(column.type)
        else column
        for column in rows.columns
    ]
    return pa.table(columns, names=names)


def _exported(rows: pa.Table, form: str) -> bytes:
    out = io.BytesIO()
    export.write(rows, form, out)
    return out.getvalue()


def _draw(frame: pd.DataFrame) -> None:
    numbers = {name: name for name in frame.select_dtypes("number")}
    plain = {name: name for name in frame if not isinstance(frame[name].dropna().head(1).squeeze(), (list, dict))}
    if not numbers or len(plain) < 2:
        st.caption("A chart needs two columns, one of them with numbers.")
        return
    st.header("Chart")
    left, middle, right = st.columns(3)
    with left:
        others = dict(sorted(plain.items(), key=lambda item: len(numbers) == 1 and item[0] in numbers))
        x = state.choose_one("Across", "x", others)
    with middle:
        first = dict(sorted(numbers.items(), key=lambda item: item[0] == x))  # not itself, if there is another
        y = state.choose_one("Value", "y", first)
    with right:
        colour = state.choose_one("Colour", "colour", {NO_COLOUR: NO_COLOUR, **plain})
    if x is None or y is None:
        return
    chosen = {"x": frame[x], "y": frame[y]}
    if colour is not None and colour != NO_COLOUR:
        chosen["colour"] = frame[colour]
    state.chart(
        quick.points(pd.DataFrame(chosen), x, y, colour if "colour" in chosen else None),
        "quick",
        [st.session_state["asked"]],
    )
    st.caption(words.plain(f"{y} and {x} as the question gives them; their units stand in their names."))


main()
