"""Page Runs: which configurations exist, and what rates do they sustain?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Final

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dropline.app import headlines, links, queries, view_tables, widgets, wording
from dropline.app.queries import explore
from dropline.app.warehouse import Warehouse

ACROSS: Final = 4  # facets per row; the first row is always visible
NAMED: Final = 4  # values with counts below a facet
ANSWERED: Final = 4  # protocols that the answer covers
QUALITIES: Final = wording.QUALITIES | {wording.NOT_STATED: "no figure"}


def main() -> None:
    """Draw the page."""
    st.title("Runs")
    warehouse = widgets.warehouse_or_stop()
    answer = widgets.reserved(widgets.HEADER_PIXELS)
    left, right = st.columns([3, 1])
    with left:
        placeholder = "words in names, campaigns, methods, testbeds, findings"
        tip = "Finds set-ups with all of the words, and machines, campaigns and runs with that name."
        search = widgets.search("Search", "search", placeholder, bind="query-params", help=tip)
    with right:
        goal = widgets.choose_goal(warehouse)
    known = explore.Configurations(warehouse, goal)
    _begin(known.values["origin"])
    chosen, below = _choose_facets(known.values)
    found = known.search(search, chosen)
    with answer:
        _answer(found, partial(queries.compared, warehouse, goal))
    # below the choices: a count within an option's text would change the option
    for facet, place in below.items():
        place.caption(_counts(facet, found.counts[facet]))
    labels = queries.labels(warehouse)
    if search:
        with st.container(horizontal=True, gap="xsmall"):
            links.to_found(labels, explore.beside(warehouse, search))
    if not found.matches:
        st.warning("No set-up matches. Remove a word or a filter.")
        return
    frame = view_tables.capacities(found.rows, labels)
    places = _choose_configurations(frame, found.matches)
    _lead_on(warehouse, frame.iloc[places], goal)


def _begin(origins: Collection[str]) -> None:
    """Show only measured set-ups, if there are any, to a visitor who has chosen nothing."""
    if "measured" in origins and "origin" not in st.session_state and not st.query_params:
        st.session_state["origin"] = ["measured"]


def _choose_facets(values: Mapping[str, list[str]]) -> tuple[dict[str, list[str]], dict[str, DeltaGenerator]]:
    """Show every facet; return the choices, and places below them for the count of matches of each value."""
    facets = [*explore.FACETS]
    rows = [facets[place : place + ACROSS] for place in range(0, len(facets), ACROSS)]
    hidden = any(st.query_params.get(facet) for row in rows[1:] for facet in row)
    chosen, below = {}, {}
    first = st.container()
    more = st.expander("More filters", expanded=hidden, on_change="rerun", key="more")
    for number, row in enumerate(rows if more.open or hidden else rows[:1]):
        for column, facet in zip((more if number else first).columns(ACROSS), row, strict=True):
            with column:
                options = {value: _text(facet, value) for value in values[facet]}
                label = explore.FACETS[facet]
                named = widgets.narrowed(f"{label.lower()}s", facet, options)
                chosen[facet] = widgets.choose_many(label, facet, named)
                below[facet] = st.empty()
    return chosen, below


def _text(facet: str, value: str) -> str:
    return QUALITIES.get(value, value) if facet == "quality" else value


def _counts(facet: str, counts: Mapping[str, int]) -> str:
    """Return the most frequent values with their counts, e.g. `DNS 132 · DHCPv4 89 · 3 more`."""
    left = sorted(((count, value) for value, count in counts.items() if count), key=lambda each: -each[0])
    named = [f"{wording.plain(_text(facet, value))} **{count:,}**" for count, value in left[:NAMED]]
    more = [f"{len(left) - NAMED} more"] if len(left) > NAMED else []
    return " · ".join(named + more) or "no matches"


def _answer(found: explore.Found, compared: headlines.Compared) -> None:
    """Show the fastest matches; if there is only one, also its lead over the others."""
    fastest: list[headlines.Row] = found.fastest.to_pylist()
    if len(fastest) > 1:
        names = [
            f"{wording.known(each['protocol']) or headlines.frames(each)} {headlines.sustained(each)}".strip()
            for each in fastest[:ANSWERED]
        ]
        is_own = "measured" in found.rows["origin"].to_pylist()
        without = "None of your set-ups has a capacity at this loss goal. " * is_own
        kind = "Fastest measured" if fastest[0]["origin"] == "measured" else f"{without}Fastest published"
        st.header(wording.plain(f"{kind}: {', '.join(names)}"), anchor=False)
        return
    rated = found.rows.to_pandas().dropna(subset=["rate"])
    own = rated[rated["origin"] == "measured"]
    own = own[own["is_newest"]] if own["is_newest"].any() else own
    rows = headlines.named((own if len(own) else rated).to_dict("records"))
    if best := headlines.fastest(rows):
        st.header(wording.plain(headlines.headline(best, alone=len(rows) == 1)), anchor=False)
        sentences = headlines.lead(best, rows, compared), headlines.certainty(best)
        st.markdown(wording.plain(" ".join(filter(None, sentences))))


def _choose_configurations(frame: pd.DataFrame, matches: int) -> list[int]:
    cut = f" (the table shows {len(frame):,})" if len(frame) < matches else ""
    st.markdown(f"**{wording.plural(matches, 'configuration')}**{cut}")
    return widgets.choose_rows(
        "configurations",
        frame.assign(
            interval=frame["interval"].where(frame["ci_low"].notna(), None),
            within=view_tables.texts(frame, _within, "loss_goal", "loss_limit", "loss_basis"),
            quality_shown=frame["quality_shown"].where(frame["quality"].notna(), None),
        ),
        bounds={"rate": frame["figure_sign"]},
    )


def _within(goal: str | None, limit: float | None, basis: str | None) -> str | None:
    return wording.loss_goal(goal, limit, basis) if wording.is_known(goal) else None


def _lead_on(warehouse: Warehouse, chosen: pd.DataFrame, goal: str | None) -> None:
    if chosen.empty:
        tip = "Select one row to open its runs, trend and speed-ups, or several to compare."
        st.info(tip, icon=":material/touch_app:")
        return
    ids = list(chosen["configuration_id"])
    with st.container(horizontal=True):
        if len(ids) > 1:
            first = "first " * (len(ids) > links.MOST_COMPARED)
            links.to_compare(ids, f"Compare the {first}{min(len(ids), links.MOST_COMPARED)} chosen")
        else:
            links.to_compare(ids, "Open in the comparison")
            _lead_on_from_one(warehouse, chosen.iloc[0], goal)


def _lead_on_from_one(warehouse: Warehouse, one: pd.Series[Any], goal: str | None) -> None:
    configuration_id = str(one["configuration_id"])
    if run := queries.row(warehouse, "runs", configuration_id=configuration_id):
        links.to_run(configuration_id, run["run_id"])
    trend = queries.row(warehouse, "trends_series_of", configuration_id=configuration_id, loss_goal=goal)
    if trend:
        links.to_trend(warehouse, goal, trend["series_id"], "Open the trend")
    for each in queries.ask(warehouse, "explore_pairs", configuration_id=configuration_id).to_pylist():
        links.to_speedups(each["factor"], one["campaign"], f"Speed-ups: {wording.FACTORS[each['factor']]}")


main()
