"""Page Results: which set-up is fastest, what do threads and HA gain, and what changed?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import Any, Final, NamedTuple

import altair as alt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from dropline.app import headlines, links, queries, query_log, view_tables, widgets, wording
from dropline.app.charts import panel
from dropline.app.warehouse import Identity, Warehouse

OWN: Final = "only_"  # prefix of this page's own URL parameters; pages share those of the same name
MOST_PANELS: Final = 8
MOST_ROWS: Final = 12  # in a panel
MOST_THROUGHPUTS: Final = 1000
MOST_REMEMBERED: Final = 32  # cached answers, each for a goal and filters
KIND: Final = ["origin", "protocol", "rate_unit", "place"]  # figures with equal values can be compared
FILTERED_BY: Final = (
    "configuration_id",
    "origin",
    "rate_unit",
    "place",
    "product",
    "runs",
    "is_newest",
    *wording.FILTERS,
)


def main() -> None:
    """Draw the page."""
    name, controls = st.columns([1, 2], vertical_alignment="bottom")
    name.title("Results", help="\n\n".join(f"**{term}**: {meaning}" for term, meaning in wording.GLOSSARY.items()))
    warehouse = widgets.warehouse_or_stop()
    totals = queries.row(warehouse, "totals")
    if not totals["measured"]:
        st.info(wording.CAPTIONS["no_own"], icon=":material/info:")
        if totals["rejected"]:
            label = f"Why {wording.plural(totals['rejected'], 'file')} of yours could not be used"
            st.page_link("views/quality.py", label=label, query_params={"tab": "Rejected files"})
    widgets.warn_if_behind(warehouse)
    with controls.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="right"):
        with st.container(width=270):
            goal = widgets.choose_goal(warehouse, f"{OWN}goal")
        is_published = st.toggle(
            "Published figures",
            value=not totals["measured"],
            key="published",
            bind="query-params",
            help="Show figures that vendors and articles published, from their own machines, beside your results.",
        )
        filters = st.popover("Filter", icon=":material/filter_list:")
    with filters:
        chosen, named = _choose_filters(_options(warehouse.identity, goal, is_published))
    if named:
        st.caption(f"Only {'; '.join(named)}")
    _version_changes(warehouse, goal)
    answer = _answer(warehouse.identity, goal, is_published, chosen)
    if not answer.found:
        without = "No capacity at this loss goal: it takes trials at several rates, as with perfdhcp -r or dnsperf -Q."
        st.warning("No results for these filters. Remove one." if named else without)
    left, right = st.columns(2, gap="large")
    for column, each in zip(cycle((left, right)), [*answer.panels[:3], *answer.effects, *answer.panels[3:]]):
        with column:
            _draw(each)
    shown = sum(len(each.rows) for each in answer.panels)
    if shown < answer.found:
        st.caption(f"The charts show {shown:,} of {answer.found:,} set-ups.")
    if answer.earlier:
        earlier = f"Only the newest results; {answer.earlier:,} earlier ones of the same set-ups are in Trends"
        links.to_page("trends", earlier, "trending_up")
    every = {"origin": ["measured", "published"]}
    links.to_page("explore", "Search all set-ups and published figures", "search", every)
    _throughputs(warehouse)
    _foot(warehouse, totals)


class Panel(NamedTuple):
    """A chart with its answer; `rows` (its set-ups), `best` (the fastest) and `speedups` are for links."""

    key: str
    heading: str
    lead: str
    certainty: str
    drawn: alt.LayerChart
    kept: Mapping[str, Any]
    rows: Sequence[headlines.Row] = ()
    best: headlines.Row | None = None
    asked: Collection[str] = ()
    speedups: tuple[str, str] | None = None


class Answer(NamedTuple):
    """The panels for the set-ups that pass the filters, and their number.

    `earlier` is the number of results left out: a set-up measured every night would hide all others.
    """

    panels: list[Panel]
    effects: list[Panel]
    found: int
    earlier: int


def _found(goal: str | None, is_published: bool) -> tuple[pa.Table, pd.DataFrame]:
    """Return all capacities, and the filter columns of those that the page may show."""
    table = queries.ask(widgets.open_warehouse(), "results_capacities", loss_goal=goal)
    found = table.select(FILTERED_BY).to_pandas()
    texts = [*wording.FILTERS, "product"]
    found[texts] = found[texts].astype(object).fillna(wording.NOT_STATED)
    return table, found if is_published else found[found["origin"] == "measured"]


@st.cache_data(max_entries=MOST_REMEMBERED, show_spinner=False)
def _options(identity: Identity, goal: str | None, is_published: bool) -> dict[str, list[str]]:
    """Return the values of each filter."""
    _, found = _found(goal, is_published)
    return {name: sorted(found[name].unique()) for name in wording.FILTERS}


def _choose_filters(values: Mapping[str, Sequence[str]]) -> tuple[tuple[tuple[str, ...], ...], list[str]]:
    """Show the filters; return the values chosen for each, and the filters in use as text, as the fields are hidden."""
    every, named = [], []
    for name, label in wording.FILTERS.items():
        options = widgets.narrowed(f"{label.lower()}s", f"{OWN}{name}", {value: value for value in values[name]})
        chosen = widgets.choose_many(label, f"{OWN}{name}", options)
        every.append(tuple(chosen))
        if chosen:
            named.append(f"{label}: {wording.plain(' or '.join(chosen))}")
    return tuple(every), named


@st.cache_resource(max_entries=MOST_REMEMBERED, show_spinner=False)  # nobody changes a chart that is drawn
def _answer(identity: Identity, goal: str | None, is_published: bool, chosen: tuple[tuple[str, ...], ...]) -> Answer:
    """Draw a panel per protocol and unit, those with the most runs first, and the effects of threads and HA."""
    with query_log.recorded() as asked:
        table, found = _found(goal, is_published)
    filters = {name: values for name, values in zip(wording.FILTERS, chosen, strict=True) if values}
    for name, values in filters.items():
        found = found[found[name].isin(values)]
    known = len(found)
    in_panels = found[found["origin"] == "measured"].groupby(KIND).size()
    if in_panels.max() > headlines.MOST_ALIKE and "campaign" not in filters:
        found = found[found["is_newest"]]
    panels = [each._replace(asked=asked) for each in _panels(found, table, widgets.open_warehouse(), goal)]
    newest = found if "campaign" in filters else found[found["is_newest"]]
    return Answer(panels, _effects(newest["configuration_id"], goal), len(found), known - len(found))


def _panels(found: pd.DataFrame, table: pa.Table, warehouse: Warehouse, goal: str | None) -> list[Panel]:
    """Return a panel for each kind of comparable figures, each followed by the published ones of the same products."""
    found = found.assign(protocol=found["protocol"].replace(wording.NOT_STATED, ""))
    own = found[found["origin"] == "measured"]
    if len(own):
        alike = found.set_index(["protocol", "rate_unit", "product"]).index
        found = found[alike.isin(own.set_index(["protocol", "rate_unit", "product"]).index)]
    kinds = found.groupby(KIND)["runs"]
    sizes = kinds.agg(["sum", "size"]).sort_values(["origin", "sum", "size"], ascending=[True, False, False])
    parts = {kind: kinds.groups[kind] for kind in sizes.index[:MOST_PANELS]}
    # Display columns for all panels at once, and only for the rows they show: all rows would take too long.
    wanted = [place for part in parts.values() for place in part[:MOST_ROWS]]
    taken = table.take(pa.array(wanted, pa.int64()))  # typed, as the list may be empty
    rows = dict(zip(wanted, view_tables.capacities(taken, queries.labels(warehouse)).to_dict("records"), strict=True))
    compared = partial(queries.compared, warehouse, goal)
    shown = {kind: [rows[each] for each in part[:MOST_ROWS]] for kind, part in parts.items()}
    return [_panel(drawn, len(parts[kind]), kind, compared) for kind, drawn in shown.items()]


def _panel(rows: Sequence[headlines.Row], known: int, kind: tuple[str, ...], compared: headlines.Compared) -> Panel:
    """Return the headline and the capacities of the fastest of all `known` set-ups of a kind."""
    _, protocol, unit, place = kind
    drawn = headlines.named(rows)
    best = headlines.fastest(drawn)
    heading, lead, certainty = headlines.none_holds(drawn), "", headlines.at_first_step(drawn)
    if best is not None:
        heading = headlines.headline(best, alone=len(drawn) == 1)
        measured = f" Measured on {best['testbed']}." if wording.is_known(best["testbed"]) else ""
        lead, certainty = headlines.lead(best, drawn, compared), f"{headlines.certainty(best)}{measured} {certainty}"
    shown = pd.DataFrame(drawn)
    shown = shown.assign(
        row=shown["name"],
        quality=shown["quality_shown"],
        rate=shown["rate"].where(shown["status"] != "exceeded_at_first_step"),
        shown=[headlines.figure(row) for row in drawn],
    )
    count = int(shown[["rate", "ci_high"]].notna().any(axis="columns").sum())
    of = f"{protocol or unit}: {_drawn_of(count, known, 'set-up')}{place}"
    chart = panel.capacities(shown, unit, f"{of}, fastest first", panel.described(shown))
    return Panel("-".join(("panel", *kind)), heading, lead, certainty, chart, chart.with_frames(), drawn, best)


def _drawn_of(drawn: int, known: int, noun: str) -> str:
    """Return a count, e.g. `7 pairs` or `12 of 3,570 pairs`."""
    return (f"{drawn} of " if known > drawn else "") + wording.plural(known, noun)


def _draw(shown: Panel) -> None:
    with st.container(gap="xxsmall"):
        st.header(wording.plain(shown.heading), anchor=False)
        if shown.lead:
            st.markdown(wording.plain(shown.lead))
        if shown.certainty:
            st.caption(wording.plain(shown.certainty))
    widgets.chart(shown.drawn, shown.key, shown.asked, on_select="rerun" if shown.rows else None, kept=shown.kept)
    if shown.speedups:
        links.to_speedups(*shown.speedups, "All pairs, with statistical tests")
    _lead_on(shown.rows, shown.best, shown.key)


def _lead_on(drawn: Sequence[headlines.Row], best: headlines.Row | None, key: str) -> None:
    """Link to the runs of the set-up whose bar was clicked, and to its comparison with the fastest."""
    picked = st.session_state.get(key, {}).get("selection", {}).get(panel.PICKED, [])
    ids = {each.get("configuration_id") for each in picked}
    for row in [row for row in drawn if row["configuration_id"] in ids][:1]:
        with st.container(horizontal=True):
            if row["origin"] == "measured":
                address = {"configuration": row["configuration_id"]}
                links.to_page("run", f"Runs of {wording.plain(row['name'])}", None, address)
            if best is not None and row["configuration_id"] != best["configuration_id"]:
                pair = [row["configuration_id"], best["configuration_id"]]
                links.to_compare(pair, f"Compare with {wording.plain(best['name'])}")


def _effects(found: pd.Series[str], goal: str | None) -> list[Panel]:
    """Return the effect of threads and HA on the set-ups of the page."""
    with query_log.recorded() as asked:
        pairs = queries.ask(widgets.open_warehouse(), "results_pairs", loss_goal=goal)
    pairs = pairs.filter(pc.is_in(pairs["configuration_id"], pa.array(found, pa.string())))
    drawn = (_effect(pairs.filter(pc.equal(pairs["factor"], factor)), factor, asked) for factor in wording.COMPARED)
    return [each for each in drawn if each]


def _effect(pairs: pa.Table, factor: str, asked: Collection[str]) -> Panel | None:
    own = pairs.filter(pc.equal(pairs["origin"], "measured"))
    known = view_tables.bounded((own if len(own) else pairs).to_pandas())
    if known.empty:
        return None
    rows = known.head(MOST_ROWS)
    each = rows.to_dict("records")
    shown = view_tables.texts(rows, headlines.ratio, "ratio", "verdict", "sign")
    finding = f"{wording.COMPARED[factor]}: {_drawn_of(len(rows), len(known), 'pair')}"
    named = rows.assign(row=headlines.pair_names(each, factor), shown=shown)
    drawn = panel.ratios(named, finding, "Light: 95 % interval of the ratio")
    lead = headlines.reasons(each, factor)
    address = factor, str(rows["campaign"].iloc[0])
    headline = headlines.effect(known, wording.SUBJECTS[factor])
    return Panel(f"effect-{factor}", headline, lead, "", drawn, drawn.with_frames(), asked=asked, speedups=address)


def _version_changes(warehouse: Warehouse, goal: str | None) -> None:
    """Show what changed with the newest version, if two were measured."""
    title, pairs = queries.since_versions(warehouse, goal)
    if pairs:
        changes = headlines.changes(row["verdict"] for row in pairs)
        st.header(wording.plain(f"{title}: {changes}"), anchor=False)
        if doubts := wording.doubts(pairs):
            st.caption(wording.plain(doubts))
        st.page_link("views/versions.py", label="Set-up by set-up", icon=":material/compare_arrows:")
    changed = queries.changed_series(warehouse, goal, pairs)
    for series in changed[: headlines.MOST_CHANGED]:
        links.to_trend(warehouse, goal, series["series_id"], wording.plain(headlines.changed_level(series)))
    if more := changed[headlines.MOST_CHANGED :]:
        links.to_page("trends", f"Changes of level in {wording.plural(len(more), 'more set-up')}", "trending_up")


def _throughputs(warehouse: Warehouse) -> None:
    """Show throughput under unpaced load, kept apart from sustained rates."""
    frame = queries.ask(warehouse, "throughputs").to_pandas()
    if frame.empty:
        return
    labels = queries.labels(warehouse)
    st.header("Throughput and latency", anchor=False)
    st.caption("Without a set rate, or at a higher rate than the server could take")
    if len(frame) > MOST_THROUGHPUTS:
        st.caption(f"The table shows the fastest {MOST_THROUGHPUTS:,} of {len(frame):,}.")
    frame = frame.head(MOST_THROUGHPUTS)
    widgets.declared(
        "throughput-table",
        frame.assign(
            label=frame["configuration_id"].map(labels),
            quality=frame["quality"].map(wording.QUALITIES),
        ),
    )


def _foot(warehouse: Warehouse, totals: Mapping[str, int]) -> None:
    """Show totals and freshness."""
    counts = {"configuration": totals["measured"], "run": totals["runs"], "trial": totals["trials"]}
    parts = [wording.plural(count, noun) for noun, count in counts.items()]
    built = queries.row(warehouse, "quality_built")
    parts.append(f"Built on {built['built_at']:%d %b %Y, %H:%M} UTC")
    parts += [f"newest batch {wording.plain(each)}" for each in sorted(built["lake_batches"])[-1:]]
    st.caption(" · ".join(parts))


main()
