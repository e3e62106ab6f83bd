"""Page Trends: how does a capacity change over versions and time, and what else changed?"""

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dropline.app import links, queries, query_log, widgets, wording
from dropline.app.charts import trend
from dropline.app.warehouse import Warehouse

_FEWEST = 4  # runs; with fewer, inference.changes finds no change
_LINKS = 6  # links to runs with a dip or a change


def main() -> None:
    """Draw the page."""
    st.title("Trends")
    warehouse = widgets.warehouse_or_stop()
    answer = widgets.reserved(widgets.HEADER_PIXELS)
    left, right = st.columns([2, 1])
    with right:
        goal = widgets.choose_goal(warehouse)
    found = queries.ask(warehouse, "trends_series", loss_goal=goal).to_pandas()
    if found.empty:
        st.info(wording.CAPTIONS["no_trend"])
        return
    with left:
        options = {row.series_id: wording.series(row.label, row.runs, row.changes) for row in found.itertuples()}
        near = widgets.narrowed("series", "series", options)
        with widgets.reserved(widgets.FIELD_PIXELS):
            series_id = widgets.choose_one("Series", "series", near)
    if series_id:
        _draw(warehouse, series_id, answer)


def _draw(warehouse: Warehouse, series_id: str, answer: DeltaGenerator) -> None:
    with query_log.recorded() as asked:
        points = queries.ask(warehouse, "trends_points", series_id=series_id).to_pandas()
    unit = wording.plain(wording.known(points["rate_unit"].iloc[0]) or "per second")
    points["shown_change"] = points["change_ratio"].map(wording.percent).where(points["is_change"], "")
    answer.header(wording.plain(_finding(points)), anchor=False)
    order = "time" if points["started_at"].notna().any() else "their names, as no time is known"
    drawn = trend.runs_in_time(points, wording.known(points["backend"].iloc[0]), unit, order)
    st.space(widgets.TOOLS_PIXELS)
    widgets.chart(drawn, "trend", asked)
    with st.container(horizontal=True, gap="small"):
        for row in points[points["is_dip"] | points["is_change"]].tail(_LINKS).to_dict("records"):
            change = "dipped" if row["is_dip"] else f"{row['shown_change']} from here on"
            links.to_run(row["configuration_id"], row["run_id"], text=f"Run {row['place']}: {change}")
    if points["rate_interpolated"].notna().sum() < _FEWEST:
        st.caption(f"It takes at least {_FEWEST} runs whose ramps bracket the limit to detect a change of level.")
    st.markdown("**The runs**")
    listed = points.assign(
        started_at=points["started_at"].dt.strftime("%Y-%m-%d %H:%M").fillna(points["measured_on"]),
        dip=points["is_dip"].map({True: "dip", False: None}),
        **points[["shown_change", "doubt", "changed"]].replace("", None),
    )
    bounds = {"rate": map(wording.bound, points["status"])}
    widgets.declared("trend-table", listed, {"unit": unit}, bounds=bounds)


def _finding(points: pd.DataFrame) -> str:
    changes = points[points["is_change"]]
    dips, bounds = int(points["is_dip"].sum()), int(points["rate_interpolated"].isna().sum())
    tail = f"; {wording.plural(dips, 'run')} dipped" if dips else ""
    tail += f"; the ramp of {wording.plural(bounds, 'run')} misses the limit" if bounds else ""
    if len(points) - bounds < _FEWEST:
        return f"{wording.plural(len(points), 'run')}: too few to detect a change{tail}"
    if changes.empty:
        return f"No change of level found in {wording.plural(len(points) - bounds, 'run')}{tail}"
    last = changes.iloc[-1]
    if last["is_drift"]:
        return f"The level drifts: {last['shown_change']} from {last['since']} on, the last step of several{tail}"
    if last["is_spread_changed"]:
        tail = f"; the runs scatter differently from there on, too{tail}"
    reason = f", with {last['changed']}" if last["changed"] else ""
    if last["is_other_session"]:
        reason += ", perhaps only because another session began"
    return f"{last['shown_change']} from {last['since']} on{reason or '; no other change is known'}{tail}"


main()
