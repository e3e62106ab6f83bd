"""Page state: the open warehouse, the choices in the URL, and their widgets."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Final, Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.column_types import ColumnConfig
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dropline import beside
from dropline.app import downloads, status, wording
from dropline.app.charts import theme
from dropline.app.queries import loss_goals, row
from dropline.app.warehouse import LIMITS, Identity, Warehouse, WarehouseError
from dropline.paths import Home

FOLLOWED_EVERY_S: Final = 5
# Queries of pages are small: a second thread costs more than it saves, and other visitors need it.
PAGE_LIMITS: Final = LIMITS | {"threads": "1"}
REMEMBERED_BYTES: Final = 64 * 2**20  # cached answers of one publication
ID_LENGTH: Final = 12  # characters of an id in an address
_ID: Final = re.compile(f"[0-9a-f]{{{ID_LENGTH},}}")
MOST_OPTIONS: Final = 500  # in a select box
MISSING: Final = "-"
BOUND_WIDTH: Final = 70  # pixels
MIXED: Final = "%,.9g"  # no format rounds large numbers to integers and small ones to three digits
BOUND_HELP: Final = "≥ at least this figure, < less than this figure, ≈ about this figure."
ROW_PIXELS: Final = 35  # of a table
FRAME_PIXELS: Final = 2  # around the rows of a table
MOST_PIXELS: Final = 400  # of a table that shows ten rows and scrolls
TOOLS_PIXELS: Final = 12  # between a field and a chart, whose tool bar overlaps the space above
HEADER_PIXELS: Final = 44  # an answer of one line
FIELD_PIXELS: Final = 68  # a field with its label
_TABLES: Final = beside.words(__file__, "tables")
TINT: Final = "background-color: rgba(230, 159, 0, 0.2)"


@st.cache_resource(max_entries=1, show_spinner=False)  # the previous one closes when its last page has finished
def _opened(identity: Identity) -> Warehouse:
    return Warehouse.open(identity.path, PAGE_LIMITS, REMEMBERED_BYTES)


def open_warehouse() -> Warehouse:
    """Return the latest published warehouse; raise WarehouseError if none can be read."""
    return _opened(Identity.of(Home.chosen().warehouse))


@st.fragment(run_every=FOLLOWED_EVERY_S)
def follow_publications(shown: Identity | None) -> None:
    """Rerun the page within seconds of a publication after the `shown` one; costs one stat of the file."""
    # `shown` is from the last run of the whole page, so that a lost rerun is requested again.
    if published() != shown:
        st.rerun()


def published() -> Identity | None:
    """Return the identity of the published warehouse, or None if there is none."""
    file = Home.chosen().warehouse
    return Identity.of(file) if file.exists() else None


def warehouse_or_stop() -> Warehouse:
    """Return the warehouse, or show the commands that build one and stop the page."""
    try:
        return open_warehouse()
    except WarehouseError as error:
        st.info(wording.plain(error).replace(r"\`", "`"), icon=":material/database_off:")  # commands as code
        st.page_link("views/try_file.py", label="Try a file", icon=":material/upload_file:")
        st.stop()


def warn_if_behind(warehouse: Warehouse) -> None:
    """Warn of batches in the lake that the warehouse lacks."""
    behind = len(set(status.committed(Home.chosen())) - set(row(warehouse, "quality_built")["lake_batches"]))
    if behind:
        batches = "1 batch that was" if behind == 1 else f"{behind} batches that were"
        st.warning(
            f"The lake has {batches} ingested after this build. Type `dropline build` to update the figures.",
            icon=":material/update:",
        )


def search(label: str, key: str, placeholder: str, **shown: Any) -> str:
    """Show a search field, and return its text."""
    return (
        st.text_input(label, key=key, type="search", icon=":material/search:", placeholder=placeholder, **shown) or ""
    )


def narrowed(noun: str, key: str, options: Mapping[str, str]) -> dict[str, str]:
    """Return at most `MOST_OPTIONS` options (value -> text); ask for a search text if there are more.

    Keep options that the URL or an earlier choice has under `key`; `noun` names the options, in the plural.
    """
    if len(options) <= MOST_OPTIONS:
        return dict(options)
    with reserved(FIELD_PIXELS):
        words = search(f"Search {noun}", f"{key}_search", f"words in any of {len(options):,} {noun}")
    asked = words.lower().split()
    found = [each for each, text in options.items() if all(word in text.lower() for word in asked)]
    chosen = st.session_state.get(key)
    asked_for = st.query_params.get_all(key)
    named = {*asked_for, *(chosen if isinstance(chosen, list) else [chosen])}
    named |= {_of_id(each, options) for each in asked_for}
    kept = {each for each, text in options.items() if each in named or text in named}
    if len(found) > MOST_OPTIONS:
        st.caption(f"The list shows the first {MOST_OPTIONS:,} of {len(found):,} {noun}. Type words to find others.")
    kept |= {*found[:MOST_OPTIONS]}
    return {each: text for each, text in options.items() if each in kept}  # in order: the first is the URL's default


def choose_one(
    label: str,
    key: str,
    options: Mapping[str, str],
    on_change: Callable[[], None] | None = None,
    otherwise: str | None = None,
) -> str | None:
    """Show `options` (value -> text) in a select box bound to the URL by text or id; warn of unknown ones in the URL.

    The default is `otherwise`, or the first.
    """
    bound = _bound(key, options)
    values = list(options)
    first = values.index(otherwise) if otherwise else 0
    if values and st.session_state.get(key, values[first]) not in options:
        st.session_state[key] = values[first]  # so that the URL follows
    chosen: str | None = st.selectbox(label, values, index=first, on_change=on_change or "rerun", **bound)
    return chosen


def choose_many(
    label: str, key: str, options: Mapping[str, str], *, most: int | None = None, placeholder: str = "all"
) -> list[str]:
    """Show `options` (value -> text) to choose several from, bound to the URL like `choose_one`."""
    bound = _bound(key, options)
    return st.multiselect(
        label, list(options), max_selections=most, placeholder=placeholder, wrap=True, select_all=False, **bound
    )


def choose_goal(warehouse: Warehouse, key: str = "goal") -> str | None:
    """Return the loss goal that the visitor chose; None, the default, means the usual goal of each set-up."""
    known = loss_goals(warehouse)
    dhcp, other = (loss_goals(warehouse, [unit])[0]["loss_limit"] for unit in ("leases/s", "queries/s"))
    columns = ("loss_goal", "loss_limit", "loss_basis")
    texts = {each["loss_goal"]: wording.loss_goal(*(each[name] for name in columns)) for each in known}
    usual = {"usual": f"usual: DHCP {100 * dhcp:g} %, others {100 * other:g} %"}
    with reserved(FIELD_PIXELS):
        chosen = choose_one("Loss goal", key, usual | texts)
    return None if chosen == "usual" else chosen


def _of_id(asked: str, options: Collection[str]) -> str | None:
    """Return the only option that begins with an id of at least `ID_LENGTH` characters."""
    found = [each for each in options if each.startswith(asked)] if _ID.fullmatch(asked) else []
    return found[0] if len(found) == 1 else None


def _bound(key: str, options: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments that bind a widget to the URL by the texts of its options.

    Replace ids in the URL by texts and rerun, as widgets know only texts. Warn of values that never were among the
    options; earlier ones may belong to another configuration.
    """
    asked = st.query_params.get_all(key)
    known = {text: each for each, text in options.items()}
    values = [known.get(each) or _of_id(each, options) for each in asked]
    if not all(each in known for each in asked) and None not in values:
        st.query_params[key] = [options[each] for each in values if each is not None]
        st.rerun()
    seen = st.session_state.setdefault(f"{key}-seen", {""})
    seen |= {*asked} & {*known}
    for gone in asked:
        if gone not in seen:
            st.warning(f"The address asks for {wording.plain(gone)}, which is not in this warehouse (any more).")
    return {"format_func": options.__getitem__, "key": key, "bind": "query-params"}


def show_tabs(drawn: Mapping[str, Callable[[], None]], default: str | None = None) -> None:
    """Show tabs by name, and draw the open one: that of the URL, else `default`, else the first."""
    tabs = st.tabs([*drawn], default=default, key="tab", on_change="rerun", bind="query-params")
    for tab, draw in zip(tabs, drawn.values(), strict=True):
        with tab:
            if tab.open:
                draw()


def reserved(pixels: int) -> DeltaGenerator:
    """Return a container with a minimum height, so that nothing below jumps when it is filled."""
    row = st.container(horizontal=True, horizontal_alignment="right", gap=None)  # the container and its spacer
    held = row.container()
    row.container(width=1).space(pixels)
    return held


def _pixels(height: int | Literal["auto", "content"], rows: int) -> int:
    """Return the height of a table, which Streamlit knows only after drawing it."""
    content = ROW_PIXELS * (rows + 1) + FRAME_PIXELS
    most = {"auto": MOST_PIXELS if rows > 10 else content, "content": content}
    return min(content, most[height] if isinstance(height, str) else height)


def chart(
    drawn: theme.Titled,
    key: str,
    asked: Collection[str] = (),
    on_select: Callable[[], None] | Literal["rerun"] | None = None,
    kept: Mapping[str, Any] | None = None,
) -> None:
    """Show a chart with its title, its description as text alternative, and a menu with its data and SQL.

    `key` is also the name of the files; `asked` are the queries behind it, from `query_log.recorded`; `kept` is its
    specification from `with_frames`, if the page has cached it.
    """
    with st.container(gap="xxsmall", key=f"chart-{key}"):
        height: Any = drawn.height if isinstance(drawn.height, int) else "content"
        with nullcontext() if height != "content" else reserved(theme.room(drawn)):
            spec = dict(kept or drawn.with_frames())  # a copy, as Streamlit removes the data from it
            st.vega_lite_chart(None, spec, width="stretch", height=height, key=key, on_select=on_select or "ignore")
        downloads.menu(drawn, key, asked)


def table(
    rows: pd.DataFrame,
    *,
    alt: str,
    bounds: Mapping[str, Sequence[str]] | None = None,
    key: str | None = None,
    config: Mapping[str, Any] | None = None,
    height: int | Literal["auto", "content"] = "auto",
    tinted: Sequence[bool] = (),
    **choice: Any,
) -> Any:
    """Show rows in the given order. Cells are plain text, never markup; numbers sort as numbers.

    `alt` describes the table to screen readers; `bounds` gives, for columns of rates, the sign (≥, <, ...) before each
    row's figure; `height` is in pixels, `auto` for up to ten rows, `content` for all; `tinted` rows are highlighted.
    `choice` holds Streamlit's arguments for choosing rows; the chosen rows are returned.
    """
    shown: Any = rows.reset_index(drop=True)
    if bounds:
        shown, columns = _with_bounds(shown, bounds)
        config = columns | dict(config or {})
    if any(tinted):
        marks = [TINT if one else "" for one in tinted]
        shown = shown.style.apply(lambda column: marks, axis="index")
    return st.dataframe(
        shown,
        hide_index=True,
        alt=alt,
        key=key,
        column_config=dict(config or {}),
        height=_pixels(height, len(rows)),
        placeholder=MISSING,
        **choice,
    )


def went_back() -> bool:
    """Return whether the visitor came by the browser's Back or Forward: then the URL overrides earlier choices.

    Streamlit uses this for widgets bound to the URL, but has no public function for it; its version is pinned.
    """
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def declared(name: str, rows: pd.DataFrame, texts: Mapping[str, str] | None = None, **shown: Any) -> Any:
    """Show rows as the table of this name in tables.yml; other arguments are those of `table`.

    `texts` fill the placeholders of the declaration. Columns that the rows lack are left out.
    """
    known = _TABLES[name]
    words = texts or {}
    settings = {column: each for column, each in known["columns"].items() if column in rows}
    named = {column: each.format(**words) for column, each in headings(name).items() if column in settings}
    config = {named[column]: _settings(each, words) for column, each in settings.items() if isinstance(each, dict)}
    rows = rows[[*named]].rename(columns=named)
    rows = rows.dropna(axis="columns", how="all") if known.get("drops_empty") else rows
    bounds = {named[column]: list(signs) for column, signs in shown.pop("bounds", {}).items() if named[column] in rows}
    usual = {"key": name, "height": known.get("height", "auto")}
    return table(rows, alt=known["alt"].format(**words), bounds=bounds, config=config, **usual | shown)


def headings(name: str) -> dict[str, str]:
    """Return the headings of a table in tables.yml by column; by default, the column's name as text."""
    columns: dict[str, Any] = _TABLES[name]["columns"]
    headings = {column: each.get("heading") if isinstance(each, dict) else each for column, each in columns.items()}
    return {column: each or column.replace("_", " ").capitalize() for column, each in headings.items()}


def _settings(settings: Mapping[str, Any], words: Mapping[str, str]) -> ColumnConfig:
    """Return Streamlit's settings of a column: a width for text, a format for numbers and times."""
    shown = {name: settings[name].format(**words) for name in ("help", "label") if name in settings}
    if "text" in settings:
        return st.column_config.TextColumn(width=settings["text"], **shown)
    if "time" in settings:
        return st.column_config.DatetimeColumn(format=settings["time"], timezone="UTC", **shown)
    return st.column_config.NumberColumn(format=settings["number"] and settings["number"].format(**words), **shown)


def choose_row(name: str, rows: pd.DataFrame, texts: Mapping[str, str] | None = None) -> int | None:
    """Show rows to choose one from, like `choose_rows`, and return its position."""
    chosen = choose_rows(name, rows, texts, mode="single-row")
    return chosen[0] if chosen else None


def choose_rows(
    name: str,
    rows: pd.DataFrame,
    texts: Mapping[str, str] | None = None,
    mode: Literal["single-row", "multi-row"] = "multi-row",
    **shown: Any,
) -> list[int]:
    """Show rows to choose from, like `declared`, and return the positions of those chosen, in order.

    The URL parameter that the declaration names holds the first characters of their ids.
    """
    ids, parameter = list(rows[_TABLES[name]["id"]]), _TABLES[name]["address"]
    asked = tuple(filter(None, st.query_params.get_all(parameter)))
    places = [place for place, each in enumerate(ids) if asked and each.startswith(asked)]
    times_back = st.session_state.get(f"{parameter}-back", 0) + went_back()
    st.session_state[f"{parameter}-back"] = times_back
    picked = declared(
        name,
        rows,
        texts,
        on_select="rerun",
        selection_mode=mode,
        selection_default={"selection": {"rows": places if mode == "multi-row" else places[:1]}},
        # new rows need a new widget, as positions would refer to the old ones; so do choices after Back
        key=f"{parameter}-{zlib.crc32(' '.join(ids).encode())}-{times_back}",
        **shown,
    )
    chosen = sorted(place for place in picked.selection.rows if place < len(ids))
    if chosen:
        st.query_params[parameter] = [ids[place][:ID_LENGTH] for place in chosen]
    elif parameter in st.query_params:
        del st.query_params[parameter]
    return chosen


def _with_bounds(
    rows: pd.DataFrame, bounds: Mapping[str, Sequence[str]]
) -> tuple[pd.DataFrame, dict[str, ColumnConfig]]:
    """Return the rows with a column for the signs of each bound, and the number formats.

    A pandas Styler could show sign and figure in one cell, but is a hundred times slower.
    """
    formats = {name: written(rows[name]) for name in rows.select_dtypes("float")}
    columns = {name: st.column_config.NumberColumn(format=each) for name, each in formats.items()}
    shown = rows.copy()
    label, width = ("Bound", BOUND_WIDTH) if sum(map(any, bounds.values())) == 1 else (None, None)
    for name in (name for name, each in formats.items() if each == MIXED):
        shown[name] = [float(wording.number(each).replace(",", "")) for each in shown[name]]
    for name, signs in bounds.items():
        if any(signs):
            bound = f"{name}: bound"
            shown.insert(shown.columns.get_loc(name), bound, list(signs))
            columns[bound] = st.column_config.TextColumn(label, width=width, help=BOUND_HELP)
    return shown, columns


def written(values: pd.Series[float]) -> str:
    """Return the column format closest to `wording.number`."""
    sizes = values[values != 0].abs()
    if sizes.empty or sizes.min() >= 10:
        return "%,.0f"
    return "%.3g" if sizes.max() < 1000 else MIXED
