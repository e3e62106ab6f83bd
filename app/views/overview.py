"""What are the leases per second of each configuration?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app import frames, queries, state, words
from app.charts import capacity

MOST_DOTS = 400
FILTERS = {
    "protocol": "Protocol",
    "backend": "Backend",
    "threading": "Threading",
    "ha_mode": "High availability",
    "origin": "Origin",
    "campaign": "Campaign",
}


def main() -> None:
    """Draw the page."""
    st.title("Leases per second")
    warehouse = state.warehouse_or_stop()
    totals = queries.totals(warehouse)
    _metrics(totals, f"{warehouse.identity.published_at:%d %b %Y, %H:%M} UTC")
    if not totals["measured"]:
        st.info(
            "Only published figures are here so far. Bring your own results in with `dropline ingest FOLDER` "
            "and `dropline build`; this page picks them up by itself.",
            icon=":material/info:",
        )
    labels = queries.labels(warehouse)
    leases, others = st.tabs(["Leases per second", "Other rates"], key="tab", on_change="rerun", bind="query-params")
    with leases:
        if leases.open:
            _leases(frames.capacities(queries.capacities(warehouse, "isc"), labels))
    with others:
        if others.open:
            _others(frames.capacities(queries.other_rates(warehouse), labels))


def _metrics(totals: dict[str, int], published_at: str) -> None:
    with st.container(horizontal=True):
        st.metric("Configurations", f"{totals['configurations']:,}", border=True, help="Measured and published.")
        st.metric("Runs", f"{totals['runs']:,}", border=True, help="Ramps of trials, each with one capacity.")
        st.metric("Trials", f"{totals['trials']:,}", border=True, help="Executions of a generator at one rate.")
        st.metric("Findings", f"{totals['findings']:,}", border=True, help="Quality findings that weaken a figure.")
        st.metric("Last build", published_at, border=True)


def _filtered(frame: pd.DataFrame) -> pd.DataFrame:
    kept = pd.Series(True, index=frame.index)
    for column, (name, label) in zip(st.columns(len(FILTERS)), FILTERS.items(), strict=True):
        values = frame[name].fillna(words.NOT_STATED)
        with column:
            chosen = state.choose_many(label, name, {value: value for value in sorted(values.unique())})
        if chosen:
            kept &= values.isin(chosen)
    return frame[kept]


def _leases(frame: pd.DataFrame) -> None:
    frame = _filtered(frame[frame["rate_unit"] == "leases/s"])
    if frame.empty:
        st.warning("No configuration meets all of these filters. Take one away.")
        return
    st.caption(
        "Capacity within a loss of 2.5 % of any exchange, as ISC measures Kea. "
        "≥ no step lost more; < the first step already did; ⚠ and ✖ carry findings."
    )
    chart_column, article_column = st.columns([6, 5], gap="large")
    with chart_column:
        dots = frame.assign(quality=frame["quality_shown"]).head(MOST_DOTS)
        dots = dots.sort_values(["protocol", "ha_mode", "threading", "threads"], kind="stable")
        state.chart(capacity.capacities(dots, "leases/s"), "overview-chart")
        if len(frame) > MOST_DOTS:
            st.caption(f"The chart shows {MOST_DOTS} of {len(frame):,} configurations; the table has all.")
    with article_column:
        for origin, part in frame.groupby("origin", sort=True):
            st.markdown(f"**By backend: {origin}**")
            state.table(
                frames.by_backend(part), alt=f"{origin} leases per second by set-up and backend", height="content"
            )
    st.markdown("**All figures**, measured first, each beside the latest published figure for the same set-up")
    state.table(
        pd.DataFrame(
            {
                "Configuration": frame["label"],
                "LPS": frame["rate"],
                "95 % interval": frame["interval"],
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


def _signs(frame: pd.DataFrame) -> dict[str, list[str]]:
    signs = {"LPS": list(frame["sign"])}
    if frame["published_rate"].notna().any():
        signs["Published LPS"] = [""] * len(frame)
    return signs


def _others(frame: pd.DataFrame) -> None:
    st.caption("Other units, and leases per second whose source names no limit of 2.5 %.")
    units = {unit: unit for unit in sorted(frame["rate_unit"].unique())}
    unit = state.choose_one("Unit", "unit", units) if units else None
    if unit is None:
        st.info("There are no figures in other units.")
        return
    frame = frame[frame["rate_unit"] == unit]
    state.table(
        pd.DataFrame(
            {
                "Configuration": frame["label"],
                unit: frame["rate"],
                "Within": [
                    words.loss_goal(*each)
                    for each in zip(frame["loss_goal"], frame["loss_limit"], frame["loss_basis"], strict=True)
                ],
                "Quality": frame["quality_shown"],
                "Findings": frame["findings_shown"],
                "Product": frame["product"],
                "Version": frame["product_version"],
                "Scenario": frame["scenario"],
                "Method": frame["method"],
                "Origin": frame["origin"],
                "Campaign": frame["campaign"],
            }
        ).dropna(axis="columns", how="all"),
        alt=f"Capacities in {unit}",
        bounds={unit: list(frame["sign"])},
        key="others-table",
        height=600,
    )


main()
