"""What do the configurations sustain, what changed since the version before, and what is new against the figures?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import streamlit as st

from dropline.app import behind, frames, links, queries, state, words
from dropline.app.charts import capacity
from dropline.app.queries import overview

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from dropline.app.warehouse import Warehouse

MOST_DOTS: Final = 400
MOST_ROWS: Final = 25  # of a chart with a configuration a row
MOST_FIGURES: Final = 1000  # of a table
MOST_KINDS: Final = 6  # of fresh findings
FILTER_WIDTH: Final = 165  # pixels: six beside each other, or two on a telephone
GOAL: Final = "isc"
LEASES: Final = "leases/s"
QUERIES: Final = "queries/s"
TABS: Final = {LEASES: "Leases per second", QUERIES: "Queries per second", "": "Other rates"}
FILTERS: Final = {
    "protocol": "Protocol",
    "backend": "Backend",
    "threading": "Threading",
    "ha_mode": "High availability",
    "origin": "Origin",
    "campaign": "Campaign",
}


def main() -> None:
    """Draw the page."""
    st.title("Overview")
    warehouse = state.warehouse_or_stop()
    totals = queries.totals(warehouse)
    _metrics(totals)
    if not totals["measured"]:
        st.info(
            "Only published figures are here so far. Bring your own results in with `dropline ingest FOLDER` "
            "and `dropline build`; this page picks them up by itself.",
            icon=":material/info:",
        )
    state.warn_if_behind(warehouse)
    _news(warehouse)
    labels = queries.labels(warehouse)
    begin = TABS.get(overview.most_measured(warehouse) or LEASES, TABS[""])
    names = list(TABS.values())
    leases, asked, rest = st.tabs(names, default=begin, key="tab", on_change="rerun", bind="query-params")
    with leases:
        if leases.open:
            with behind.recorded() as questions:
                found = frames.capacities(queries.capacities(warehouse, GOAL), labels)
            _leases(found, questions)
    with asked:
        if asked.open:
            others, asked_others = _other_rates(warehouse, labels)
            _rates(others[others["rate_unit"] == QUERIES], QUERIES, asked_others)
            _throughputs(warehouse, labels)
    with rest:
        if rest.open:
            others, asked_others = _other_rates(warehouse, labels)
            _others(others[others["rate_unit"] != QUERIES], asked_others)


def _other_rates(warehouse: Warehouse, labels: Mapping[str, str]) -> tuple[pd.DataFrame, Collection[str]]:
    with behind.recorded() as questions:
        return frames.capacities(queries.other_rates(warehouse), labels), questions


def _metrics(totals: dict[str, int]) -> None:
    with state.reserved(state.METRICS_PIXELS, horizontal=True):
        st.metric("Configurations", f"{totals['configurations']:,}", border=True, help="Measured and published.")
        st.metric("Runs", f"{totals['runs']:,}", border=True, help="Ramps of trials, each with one capacity.")
        st.metric("Trials", f"{totals['trials']:,}", border=True, help="Executions of a generator at one rate.")
        st.metric("Findings", f"{totals['findings']:,}", border=True, help="Quality findings that weaken a figure.")


def _news(warehouse: Warehouse) -> None:
    built = f"Built on {warehouse.identity.published_at:%d %b %Y, %H:%M} UTC"
    fresh = overview.freshness(warehouse)
    if fresh["last_batch"] is None:
        st.caption(f"{built}.")
        return
    last = fresh["last_started_at"]
    newest = f"the newest trial began on {last:%d %b %Y, %H:%M} UTC" if last else "no trial says when it began"
    brought = words.plural(len(fresh["campaigns"]), "campaign")
    st.caption(f"{built}; {newest}; the newest batch, {words.plain(fresh['last_batch'])}, brought {brought}.")
    changed, found = st.columns([3, 2], gap="large")
    with changed:
        _version_changes(warehouse)
    with found:
        _fresh_findings(warehouse)


def _version_changes(warehouse: Warehouse) -> None:
    st.markdown("**Since the version before**, within a loss of 2.5 % of any exchange")
    rows = overview.version_changes(warehouse).to_pandas()
    if rows.empty:
        st.info("No set-up was measured with two versions yet. Ingest runs of another version of the same set-up.")
        return
    place = state.choose_row(
        pd.DataFrame(
            {
                "Series": rows["series"],
                "Versions": rows["previous_version"].fillna("?") + " → " + rows["version"].fillna("?"),
                "Change of level": [
                    f"{100 * (level / before - 1):+.1f} %" if verdict in ("faster", "slower") and before else None
                    for level, before, verdict in zip(
                        rows["level"], rows["previous_level"], rows["verdict"], strict=True
                    )
                ],
                "Verdict": [words.VERDICTS[each] for each in rows["verdict"]],
                "Level before": [words.number(each) for each in rows["previous_level"]],
                "Level now": [words.number(each) for each in rows["level"]],
                "Unit": rows["rate_unit"],
                "Runs": [words.numbers(*each) for each in zip(rows["previous_runs"], rows["runs"], strict=True)],
                "Latest run": rows["started_at"],
            }
        ),
        list(rows["series_id"]),
        "changed",
        alt="Latest version of each series beside the version before, changed ones first; choose one to open its trend",
        config={"Latest run": st.column_config.DatetimeColumn(format="YYYY-MM-DD", timezone="UTC", help="UTC")},
        height="auto" if len(rows) < MOST_KINDS else 240,
    )
    if place is not None:
        links.to_trend(warehouse, None, rows["series_id"].iloc[place], "Open the trend")


def _fresh_findings(warehouse: Warehouse) -> None:
    st.markdown("**Findings in the newest batch** that weaken figures")
    kinds = overview.fresh_findings(warehouse).to_pylist()
    if not kinds:
        st.success("Nothing was found against its figures.", icon=":material/check:")
        return
    for kind in kinds[:MOST_KINDS]:
        links.to_findings(kind["severity"], kind["finding"], kind["findings"], kind["campaigns"])
    others = sum(kind["findings"] for kind in kinds[MOST_KINDS:])
    if others:
        st.caption(f"And {words.plural(others, 'finding')} of {words.plural(len(kinds) - MOST_KINDS, 'other kind')}.")


def _filtered(frame: pd.DataFrame) -> pd.DataFrame:
    kept = pd.Series(True, index=frame.index)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, label in FILTERS.items():
            values = frame[name].fillna(words.NOT_STATED)
            options = {value: value for value in sorted(values.unique())}
            with st.container(width=FILTER_WIDTH):
                chosen = state.choose_many(label, name, state.narrowed(f"{label.lower()}s", name, options))
            if chosen:
                kept &= values.isin(chosen)
    return frame[kept]


def _leases(frame: pd.DataFrame, asked: Collection[str]) -> None:
    frame = _filtered(frame[frame["rate_unit"] == LEASES])
    if frame.empty:
        st.warning("No configuration meets all of these filters. Take one away.")
        return
    st.caption(
        "Capacity within a loss of 2.5 % of any exchange. Figures are ISC's, the mean of the last steps that passed: "
        "these runs reached at least (≥) so much. In which range the rate at the limit lies is drawn and told beside "
        "them: by a 95 % interval or, where the steps are coarser than the runs' spread, by the bracket of steps. "
        "< the first step already lost more; ⚠ and ✖ carry findings."
    )
    chart_column, article_column = st.columns([6, 5], gap="large")
    with chart_column:
        dots = frame.assign(quality=frame["quality_shown"]).head(MOST_DOTS)
        dots = dots.sort_values(["protocol", "ha_mode", "threading", "threads"], kind="stable")
        state.chart(capacity.capacities(dots, LEASES), "overview-chart", asked)
        if len(frame) > MOST_DOTS:
            st.caption(f"The chart shows {MOST_DOTS} of {len(frame):,} configurations.")
    with article_column:
        for origin, part in frame.groupby("origin", sort=True):
            st.markdown(f"**By backend: {origin}**")
            state.table(
                frames.by_backend(part), alt=f"{origin} leases per second by set-up and backend", height="content"
            )
    st.markdown("**All figures**, measured first, each beside the latest published figure for the same set-up")
    frame = _cut(frame)
    state.table(
        pd.DataFrame(
            {
                "Configuration": frame["label"],
                "LPS": frame["rate"],
                "Rate at the limit": frame["interval"].where(frame["ci_low"].notna(), None),
                "Best single figure": frame["about"],
                "Published LPS": frame["published_rate"],
                "Published with": frame["published_version"],
                "Published by": frame["published_campaign"],
                "Runs": frame["runs"],
                "Quality": frame["quality_shown"],
                "Findings": frame["findings_shown"],
                "Meaning": frame["status_shown"],
                "Origin": frame["origin"],
                "Protocol": frame["protocol"],
                "Backend": frame["backend"],
                "Threading": frame["threading"],
                "Threads": frame["threads"],
                "HA": frame["ha_mode"],
                "Campaign": frame["campaign"],
                "Testbed": frame["testbed"],
            }
        ).dropna(axis="columns", how="all"),
        alt="Leases per second of each configuration",
        bounds=_signs(frame),
        key="overview-table",
        height=420,
    )


def _cut(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what a table can hold, and say what it leaves out."""
    if len(frame) > MOST_FIGURES:
        st.caption(f"The table shows {MOST_FIGURES:,} of {len(frame):,} configurations; filter them to see others.")
    return frame.head(MOST_FIGURES)


def _signs(frame: pd.DataFrame) -> dict[str, list[str]]:
    signs = {"LPS": list(frame["figure_sign"])}
    if frame["about"].notna().any():
        signs["Best single figure"] = [""] * len(frame)
    if frame["published_rate"].notna().any():
        signs["Published LPS"] = [""] * len(frame)
    return signs


def _others(frame: pd.DataFrame, asked: Collection[str]) -> None:
    st.caption("Other units, and leases per second whose source names no limit of 2.5 %.")
    units = list(frame.sort_values("origin", kind="stable").groupby(["origin", "rate_unit"]).size().items())
    ordered = dict.fromkeys(unit for (_, unit), _ in sorted(units, key=lambda each: (each[0][0], -each[1])))
    unit = state.choose_one("Unit", "unit", {each: each for each in ordered}) if ordered else None
    if unit is None:
        st.info("There are no figures in other units.")
        return
    _rates(frame[frame["rate_unit"] == unit], unit, asked)


def _rates(frame: pd.DataFrame, unit: str, asked: Collection[str]) -> None:
    if frame.empty:
        st.info(f"There are no figures in {words.plain(unit)}. Ingest results of a generator that gives some.")
        return
    frame = frame.sort_values(["origin", "rate"], ascending=[True, False], kind="stable")
    drawn = frame.head(MOST_ROWS).assign(row=lambda each: each["label"], quality=lambda each: each["quality_shown"])
    state.chart(capacity.capacities(drawn, unit), "rates-chart", asked)
    if len(frame) > MOST_ROWS:
        st.caption(f"The chart shows {MOST_ROWS} of {len(frame):,} configurations, measured first.")
    asks = {"unit": unit}
    if not (at := frame[frame["loss_goal"] == queries.usual_goal(unit)]).empty:
        asks["goal"] = words.loss_goal(*at.iloc[0][["loss_goal", "loss_limit", "loss_basis"]])
    st.page_link("views/explore.py", label="Filter and search them", icon=":material/search:", query_params=asks)
    frame = _cut(frame)
    state.table(
        pd.DataFrame(
            {
                "Configuration": frame["label"],
                unit: frame["rate"],
                "Rate at the limit": frame["interval"].where(frame["ci_low"].notna(), None),
                "Within": [
                    words.loss_goal(*each)
                    for each in zip(frame["loss_goal"], frame["loss_limit"], frame["loss_basis"], strict=True)
                ],
                "Runs": frame["runs"],
                "Quality": frame["quality_shown"],
                "Findings": frame["findings_shown"],
                "Meaning": frame["status_shown"],
                "Backend": frame["backend"],
                "Product": frame["product"],
                "Version": frame["product_version"],
                "Scenario": frame["scenario"],
                "Method": frame["method"],
                "Origin": frame["origin"],
                "Campaign": frame["campaign"],
                "Testbed": frame["testbed"],
            }
        ).dropna(axis="columns", how="all"),
        alt=f"Capacities in {unit}",
        bounds={unit: list(frame["figure_sign"])},
        key="others-table",
        height=420,
    )


def _throughputs(warehouse: Warehouse, labels: Mapping[str, str]) -> None:
    """Show what came back under a load that nobody paced: never among the rates that were sustained."""
    frame = queries.throughputs(warehouse).to_pandas()
    if frame.empty:
        return
    st.markdown("**Throughput**: what came back when no rate was set, or more was asked for than the server took")
    frame = _cut(frame)
    state.table(
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
                "Quality": [words.QUALITIES[each] for each in frame["quality"]],
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


main()
