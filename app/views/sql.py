"""Page SQL: the visitor's own queries to the warehouse."""

from functools import partial
from typing import Any, Final
from urllib.parse import quote

import pandas as pd
import streamlit as st

from dropline.app import editor, output_formats, sandbox, sql_console, widgets, wording
from dropline.app.charts import quick
from dropline.app.downloads import FORMS, LONGEST_LINK, button
from dropline.app.queries import sql
from dropline.app.sandbox import Refused, TooMuch
from dropline.app.warehouse import Answer, Identity, Warehouse

FIRST: Final = """select
    configuration, rate, rate_unit, ci_low, ci_high,
    runs, origin, quality
from capacity
where loss_goal = usual_goal
order by origin, rate desc
limit 20"""
EDITOR_PIXELS: Final = 360
NO_COLOUR: Final = "no colour"
MOST_BARS: Final = 12  # in a thumbnail of the gallery
MOST_REMEMBERED: Final = 30  # queries listed per visit


def main() -> None:
    """Draw the page."""
    _edit_and_answer()
    sandbox.prepare(sql_console.__name__)


def _edit_and_answer() -> None:
    st.title("SQL")
    warehouse = widgets.warehouse_or_stop()
    if widgets.went_back() or "asked" not in st.session_state:
        _take(st.query_params.get("sql", FIRST)[: sql_console.MOST_CHARACTERS])
    text = st.session_state["asked"]
    if editor.KEY not in st.session_state:  # a new editor; an existing one holds the visitor's text
        st.session_state["taken"] = text
    with widgets.reserved(EDITOR_PIXELS):
        editor.show(st.session_state["taken"], st.session_state["revision"], _schema(warehouse.identity), _run)
    st.caption(
        "Ctrl-Enter runs it, Ctrl-Space completes. Read-only, without files or network; at most "
        f"{sql_console.SECONDS:g} s, {sql_console.MOST_ROWS:,} rows and {sql_console.MOST_BYTES // 2**20} MiB. "
        "For more: `dropline sql`, on this machine."
    )
    _offer(warehouse)
    _put_into_address(text)
    answer = _answer(warehouse.identity, text)
    if isinstance(answer, str):
        st.error("The query was not answered. What to change:", icon=":material/block:")
        st.code(answer, language=None, wrap_lines=True)
        return
    _show(answer)


def _run() -> None:
    """Run the text in the editor and leave it there."""
    st.session_state["asked"] = text = editor.asked()
    before = [each for each in st.session_state.get("asked_before", []) if each != text]
    st.session_state["asked_before"] = [text, *before][:MOST_REMEMBERED]


def _take(text: str) -> None:
    """Put a query into the editor and run it."""
    st.session_state["asked"] = st.session_state["taken"] = text
    st.session_state["revision"] = st.session_state.get("revision", 0) + 1


def _offer(warehouse: Warehouse) -> None:
    """Offer the worked examples and the visitor's earlier queries."""
    examples = sql.examples()
    gallery = st.expander(f"{len(examples)} worked questions", on_change="rerun", key="questions")
    if gallery.open:
        gallery.dataframe(
            pd.DataFrame({"Question": list(examples), "Answer": _pictures(warehouse.identity)}),
            column_config={
                "Question": st.column_config.TextColumn(width="large"),
                "Answer": st.column_config.BarChartColumn(y_min=0, y_max=1, width="medium"),
            },
            hide_index=True,
            key="question",
            on_select=_take_example,
            selection_mode="single-row",
            alt="Worked questions with a picture of their answers; choose one to run it",
        )
    if before := st.session_state.get("asked_before"):
        st.selectbox(
            "Asked before",
            before,
            index=None,
            key="earlier",
            format_func=lambda each: " ".join(each.split())[:120],
            on_change=_take_earlier,
        )


def _take_example() -> None:
    for row in st.session_state["question"].selection.rows:
        _take(list(sql.examples().values())[row])


def _take_earlier() -> None:
    if st.session_state["earlier"]:
        _take(st.session_state["earlier"])


@st.cache_data(max_entries=2, ttl=3600, show_spinner=False)
def _schema(identity: Identity) -> dict[str, Any]:
    return sql.schema(widgets.open_warehouse())


@st.cache_data(max_entries=2, ttl=3600, show_spinner="Drawing the answers ...")
def _pictures(identity: Identity) -> list[list[float]]:
    """Return the first rows of each example's last numeric column, as shares of the largest value."""
    warehouse, pictures = widgets.open_warehouse(), []
    for text in sql.examples().values():
        first = warehouse.query(text).slice(0, MOST_BARS).to_pandas()
        numbers = first.select_dtypes("number").dropna(axis=1, how="all")
        drawn = [] if numbers.empty else numbers.iloc[:, -1].abs().fillna(0).astype(float)
        pictures.append([value / (max(drawn) or 1) for value in drawn])
    return pictures


def _put_into_address(text: str) -> None:
    if text != FIRST and len(quote(text)) <= LONGEST_LINK:
        st.query_params["sql"] = text
    elif "sql" in st.query_params:
        del st.query_params["sql"]


@st.cache_data(max_entries=16, ttl=600, show_spinner="Asking the warehouse ...")
def _answer(identity: Identity, text: str) -> Answer | str:
    """Return the answer, or why there is none; cached, so that changing the chart does not run the query again."""
    try:
        return sql_console.ask(identity.path, text)
    except (Refused, TooMuch) as error:
        return str(error)


def _show(answer: Answer) -> None:
    rows = output_formats.presentable(answer.rows)
    st.text(f"{wording.plural(rows.num_rows, 'row')}, {wording.plural(rows.num_columns, 'column')}")
    if answer.cut:
        st.warning(
            f"There are more rows: an answer here ends after {sql_console.MOST_ROWS:,} rows or "
            f"{sql_console.MOST_BYTES // 2**20} MiB. Narrow it with `where` or `limit`, or aggregate it."
        )
    if len(quote(st.session_state["asked"])) > LONGEST_LINK:
        st.caption("The query is too long for the address of this page: share its text instead.")
    if not rows.num_rows:
        st.info("The query is valid, but no row matches. Relax its `where`.")
        return
    st.dataframe(rows, hide_index=True, key="answer", alt="Answer to the query")
    with st.container(horizontal=True):
        for form in ("csv", "parquet"):
            label, mime = FORMS[form]
            button(f"Save as {label}", partial(output_formats.encoded, rows, form), f"answer.{form}", mime)
    _draw(rows.to_pandas(timestamp_as_object=False))


def _draw(frame: pd.DataFrame) -> None:
    numbers = list(frame.select_dtypes("number"))
    plain = {name: name for name in frame if not isinstance(frame[name].dropna().head(1).squeeze(), (list, dict))}
    if not numbers or len(plain) < 2:
        st.caption("A chart needs two columns, one of them with numbers.")
        return
    st.header("Chart")
    left, middle, right = st.columns(3)
    with left:
        others = sorted(plain, key=lambda name: (len(numbers) == 1 and name in numbers, name.endswith("_id")))
        x = widgets.choose_one("Across", "x", {name: name for name in others})
    with middle:
        # the first column that varies, but not x
        values = sorted(numbers, key=lambda name: (name == x, frame[name].nunique() < len(frame) / 2))
        y = widgets.choose_one("Value", "y", {name: name for name in values})
    with right:
        colour = widgets.choose_one("Colour", "colour", {NO_COLOUR: NO_COLOUR, **plain})
    if x is None or y is None:
        return
    chosen = {"x": frame[x], "y": frame[y]}
    if colour is not None and colour != NO_COLOUR:
        chosen["colour"] = frame[colour]
    drawn = quick.points(pd.DataFrame(chosen), x, y, colour if "colour" in chosen else None)
    widgets.chart(drawn, "quick", [st.session_state["asked"]])


main()
