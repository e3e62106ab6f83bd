"""Page Results: which set-up is fastest, what do threads and HA gain, and what changed?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from dropline.app import glossary, goals, headlines, links, queries, query_log, view_tables, widgets, wording
from dropline.app.charts import panel, theme
from dropline.app.queries import compare as comparing
from dropline.app.queries import results

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from streamlit.delta_generator import DeltaGenerator

    from dropline.app.warehouse import Warehouse

OWN: Final = "only_"  # prefix of this page's own URL parameters; pages share those of the same name
MOST_PANELS: Final = 6  # reserved containers
MOST_ROWS: Final = 12  # of a panel
MOST_THROUGHPUTS: Final = 1000
MOST_PUBLISHED: Final = 8  # besides the measured ones
QUERIES: Final = "queries/s"
FILTERS: Final = {
    "protocol": "Protocol",
    "backend": "Backend",
    "threading": "Threading",
    "ha_mode": "High availability",
    "campaign": "Campaign",
}
FILTERED_BY: Final = ("configuration_id", "origin", "rate_unit", "runs", *FILTERS)
FACTORS: Final = {
    "threading": ("Multi-threading", "Several threads compared with one"),
    "ha_mode": ("High availability", "A pair of servers compared with a single one"),
}


def main() -> None:
    """Draw the page."""
    name, controls = st.columns([1, 2], vertical_alignment="bottom")
    name.title("Results", help=glossary.about("LPS", "bracket", "bound", "interval", "loss goal", "exchange", "dip"))
    warehouse = widgets.warehouse_or_stop()
    totals = queries.totals(warehouse)
    if not totals["measured"]:
        st.info(
            "So far there are only published figures. Add your own with `dropline ingest FOLDER` and `dropline build`; "
            "this page then shows them automatically.",
            icon=":material/info:",
        )
    widgets.warn_if_behind(warehouse)
    with controls.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="right"):
        with st.container(width=270):
            goal = goals.choose(warehouse, f"{OWN}goal")
        is_published = st.toggle(
            "Published figures",
            value=not totals["measured"] or "published" in st.query_params.get_all("origin"),
            key="published",
            bind="query-params",
            help="Show figures that vendors and articles published, from their own machines, beside your results.",
        )
        filters = st.popover("Filter", icon=":material/filter_list:")
    labels = queries.labels(warehouse)
    with query_log.recorded() as asked:
        table = results.capacities(warehouse, goal)
    found = table.select(FILTERED_BY).to_pandas()
    with filters:
        found, named = _filtered(found if is_published else found[found["origin"] == "measured"])
    if named:
        st.caption(f"Only {'; '.join(named)}")
    _version_changes(warehouse, goal)
    if found.empty:
        st.warning("No results for these filters. Remove one.")
    left, right = st.columns([11, 9], gap="large")
    places = [left.container(), right.container(), right.container()]
    effects = [left.container(), right.container()]
    places += [column.container() for column in (left, right, left)]
    shown = _panels(found, table, labels, places, asked)
    if goal in (None, queries.USUAL_GOALS["dhcp_goal"]):
        _effects(warehouse, found["configuration_id"], effects)
    if shown < len(found):
        st.caption(f"The charts show {shown:,} of {len(found):,} set-ups.")
    st.page_link("views/explore.py", label="Search all set-ups and published figures", icon=":material/search:")
    _throughputs(warehouse, labels)
    _foot(warehouse, totals)


def _filtered(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Show the filters; return the matching rows, and the filters in use, as these are hidden."""
    kept, named = pd.Series(True, index=frame.index), []
    for name, label in FILTERS.items():
        values = frame[name].fillna(wording.NOT_STATED)
        options = {value: value for value in sorted(values.unique())}
        key = f"{OWN}{name}"
        if earlier := [each for each in st.query_params.get_all(name) if each in options]:  # from an older URL
            st.session_state.setdefault(key, earlier)
            del st.query_params[name]
        chosen = widgets.choose_many(label, key, widgets.narrowed(f"{label.lower()}s", key, options))
        if chosen:
            kept &= values.isin(chosen)
            named.append(f"{label}: {wording.plain(' or '.join(chosen))}")
    return frame[kept], named


def _panels(
    found: pd.DataFrame,
    table: pa.Table,
    labels: Mapping[str, str],
    places: Sequence[DeltaGenerator],
    asked: Collection[str],
) -> int:
    """Draw a panel per protocol and unit, those with most runs first, and return the number of set-ups drawn."""
    found = found.assign(protocol=found["protocol"].fillna(""), weight=found["runs"].fillna(0))
    found.loc[found["origin"] == "published", "weight"] = 0
    kinds = found.groupby(["protocol", "rate_unit"])["weight"].agg(["sum", "size"])
    order = kinds.sort_values(["sum", "size"], ascending=False, kind="stable").index[:MOST_PANELS]
    panels = []
    for protocol, unit in order:
        part = found[(found["protocol"] == protocol) & (found["rate_unit"] == unit)]
        panels.append(tuple(part.index[part["origin"] == each] for each in theme.ORIGINS))
    # Display columns for all panels at once, and only for the rows they show: all rows would take too long.
    wanted = [place for measured, published in panels for place in (*measured[:MOST_ROWS], *published)]
    taken = table.take(pa.array(wanted, pa.int64()))  # typed: there may be none
    rows = dict(zip(wanted, view_tables.capacities(taken, labels).to_dict("records"), strict=True))
    shown = 0
    for place, (protocol, unit), (measured, published) in zip(places, order, panels, strict=False):
        own = [rows[each] for each in measured[:MOST_ROWS]]
        others = [rows[each] for each in published]
        with place:
            shown += _panel(own, others, len(measured), str(protocol), str(unit), asked)
    return shown


def _panel(
    own: Sequence[headlines.Row],
    published: Sequence[headlines.Row],
    measured: int,
    protocol: str,
    unit: str,
    asked: Collection[str],
) -> int:
    """Draw the headline and the capacities of a protocol's set-ups, and return the number of set-ups drawn.

    Args:
        own: measured set-ups to draw.
        published: all published set-ups.
        measured: number of measured set-ups.
        protocol: the protocol, or an empty text.
        unit: the unit of the rates.
        asked: the queries behind the chart.
    """
    drawn = headlines.named(own, published, MOST_PUBLISHED if own else MOST_ROWS)
    subject = [row for row in drawn if row["origin"] == ("measured" if own else "published")]
    known = max(measured if own else len(published), len(subject))
    best = headlines.fastest(subject)
    with st.container(gap="xxsmall"):
        if best is None:
            st.header(f"{wording.plain(protocol or unit)}: no set-up passes its first step", anchor=False)
            st.caption(wording.plain(headlines.at_first_step(subject)))
        else:
            st.header(wording.plain(headlines.headline(best, alone=len(subject) == 1)), anchor=False)
            if lead := headlines.lead(best, subject):
                st.markdown(wording.plain(lead))
            st.caption(wording.plain(f"{headlines.certainty(best)} {headlines.at_first_step(subject)}"))
    key = f"panel-{protocol}-{unit}"
    rows = pd.DataFrame(drawn)
    rows = rows.assign(
        row=rows["name"],
        quality=rows["quality_shown"],
        rate=rows["rate"].where(rows["status"] != "exceeded_at_first_step"),
        shown=[headlines.figure(row) for row in drawn],
    )
    some = f"{len(subject)} of " if known > len(subject) else ""
    finding = f"{protocol or 'No protocol stated'}, {unit}: {some}{wording.plural(known, 'set-up')}, fastest first"
    widgets.chart(panel.capacities(rows, unit, finding, _told(rows)), key, asked, on_select=_no_more)
    _lead_on(drawn, best, key)
    return len(rows)


def _no_more() -> None:
    """Make a click rerun the page, which reads the selection from the state."""


def _lead_on(drawn: Sequence[headlines.Row], best: headlines.Row | None, key: str) -> None:
    """Link to the runs of the set-up whose bar was clicked, and to its comparison with the fastest."""
    picked = st.session_state.get(key, {}).get("selection", {}).get(panel.PICKED, [])
    ids = {each.get("configuration_id") for each in picked}
    for row in [row for row in drawn if row["configuration_id"] in ids][:1]:
        with st.container(horizontal=True):
            if row["origin"] == "measured":
                address = {"configuration": row["label"]}
                st.page_link("views/run.py", label=f"Runs of {wording.plain(row['name'])}", query_params=address)
            if best is not None and row["label"] != best["label"]:
                links.to_compare(
                    {each["label"]: each["label"] for each in (row, best)},
                    [row["label"], best["label"]],
                    f"Compare with {wording.plain(best['name'])}",
                )


def _told(rows: pd.DataFrame) -> str:
    """Return the meaning of the marks in use."""
    own = rows[rows["origin"] == "measured"]
    kinds = set(own.dropna(subset=["ci_low"])["interval_kind"])
    marks = {
        "bar: at least": own["rate"].notna().any(),
        "line: 95 % interval": "confidence" in kinds,
        "light: bracket": "bracket" in kinds,
        "diamond: published": len(own) < len(rows),
    }
    return "; ".join(mark for mark, is_there in marks.items() if is_there).capitalize()


def _effects(warehouse: Warehouse, found: pd.Series[str], places: Sequence[DeltaGenerator]) -> None:
    """Draw the effect of threads and HA on the set-ups of the page."""
    with query_log.recorded() as asked:
        pairs = results.pairs(warehouse)
    pairs = pairs.filter(pc.is_in(pairs["configuration_id"], pa.array(found, pa.string())))
    for place, factor in zip(places, FACTORS, strict=True):
        of_factor = pairs.filter(pc.equal(pairs["factor"], factor))
        own = of_factor.filter(pc.equal(of_factor["origin"], "measured"))
        part = (own if len(own) else of_factor).slice(0, MOST_ROWS).to_pandas()
        if part.empty:
            continue
        subject, what = FACTORS[factor]
        with place:
            with st.container(gap="xxsmall"):
                st.header(wording.plain(headlines.effect(part, subject)), anchor=False)
                if why := headlines.reasons(part.to_dict("records"), factor):
                    st.markdown(wording.plain(why))
            rows = part.assign(row=headlines.pair_names(part.to_dict("records"), factor))
            rows["shown"] = [
                f"{headlines.two_digits(ratio)} × {wording.SHORT_VERDICTS.get(verdict, verdict)}"
                for ratio, verdict in zip(rows["ratio"], rows["verdict"], strict=True)
            ]
            drawn = panel.ratios(
                rows, f"{what}: {wording.plural(len(rows), 'pair')}", "Light: 95 % interval of the ratio"
            )
            widgets.chart(drawn, f"effect-{factor}", asked)
            links.to_speedups(factor, part["campaign"].iloc[0], "All pairs, with statistical tests")


def _version_changes(warehouse: Warehouse, goal: str | None) -> None:
    """Show what changed with the newest version, if two were measured."""
    for known in comparing.versions(warehouse, goal)[:1]:
        verdicts = comparing.version_changes(warehouse, goal, known)["verdict"].to_pylist()
        since = f"{known['product']} {known['version']} against {known['previous_version']}"
        st.header(wording.plain(f"{since}: {headlines.changes(verdicts)}"), anchor=False)
        st.page_link("views/versions.py", label="Set-up by set-up", icon=":material/compare_arrows:")


def _throughputs(warehouse: Warehouse, labels: Mapping[str, str]) -> None:
    """Show throughput under unpaced load, kept apart from sustained rates."""
    frame = queries.throughputs(warehouse).to_pandas()
    if frame.empty:
        return
    st.header("Throughput without a set rate, or at a higher rate than the server could take", anchor=False)
    if len(frame) > MOST_THROUGHPUTS:
        st.caption(f"The table shows the fastest {MOST_THROUGHPUTS:,} of {len(frame):,}.")
    frame = frame.head(MOST_THROUGHPUTS)
    widgets.table(
        pd.DataFrame(
            {
                "Configuration": frame["configuration_id"].map(labels),
                QUERIES: frame["rate"],
                "Kind": frame["kind"],
                "Lost (%)": 100 * frame["loss_packet"],
                "Errors (%)": 100 * frame["error_ratio"],
                "Latency (ms)": frame["latency_avg_ms"],
                "99 % within (ms)": frame["latency_p99_ms"],
                "Transport": frame["transport"],
                "Runs": frame["runs"],
                "Quality": [wording.QUALITIES[each] for each in frame["quality"]],
                "Backend": frame["backend"],
                "Generator": frame["tool"],
                "Method": frame["method"],
                "Campaign": frame["campaign"],
            }
        ).dropna(axis="columns", how="all"),
        alt="Throughput in queries per second",
        key="throughput-table",
        height=420,
    )


def _foot(warehouse: Warehouse, totals: Mapping[str, int]) -> None:
    """Show totals, freshness and findings."""
    fresh = results.freshness(warehouse)
    counts = [wording.plural(totals[each], each[:-1]) for each in ("configurations", "runs", "trials", "findings")]
    said = [" · ".join(counts), f"Built on {warehouse.identity.published_at:%d %b %Y, %H:%M} UTC"]
    if fresh["last_started_at"]:
        said.append(f"newest trial on {fresh['last_started_at']:%d %b %Y, %H:%M} UTC")
    if fresh["last_batch"] is not None:
        campaigns = wording.plural(len(fresh["campaigns"]), "campaign")
        said.append(f"newest batch {wording.plain(fresh['last_batch'])} with {campaigns}")
    kinds = results.fresh_findings(warehouse).to_pylist()
    if kinds:
        with st.expander(f"Problems found in the newest batch: {sum(kind['findings'] for kind in kinds):,}"):
            for kind in kinds:
                links.to_findings(kind["severity"], kind["finding"], kind["findings"], kind["campaigns"])
    st.caption(" · ".join(said))


main()
