"""Charts of telemetry over the time of a trial, one panel per kind of metric."""

from collections.abc import Sequence
from typing import Final

import altair as alt
import pandas as pd

from dropline.app import wording
from dropline.app.charts import intervals, theme

REQUIRED: Final = ("t_s", "name", "value")
_HEIGHT: Final = 150  # pixels, with title and axis
_LEGEND: Final = 30
_FEW: Final = 250  # up to this number of values draw a point for each


def over_time(
    readings: pd.DataFrame, panel: str, span_s: Sequence[float], pauses: pd.DataFrame | None = None
) -> alt.LayerChart:
    """Draw the readings of one panel over `span_s`, the first and last second of all panels.

    `readings` has the columns of `REQUIRED`: seconds since the start of the trial, name of the metric, value. `panel`
    is kind and unit of the metrics; `pauses` has begin_s and end_s of the shaded periods.
    """
    readings = readings.loc[:, list(REQUIRED)]
    names = list(dict.fromkeys(readings["name"]))
    legend = alt.Legend(orient="top", title=None, symbolType="stroke", symbolSize=300) if len(names) > 1 else None
    base = alt.Chart(readings)
    are_events = readings["value"].nunique() == 1  # single events: draw no line between them
    points = alt.OverlayMarkDef(size=20) if len(readings) < _FEW else False
    marked = base.mark_point(filled=True, size=50) if are_events else base.mark_line(strokeWidth=1.8, point=points)
    lines = marked.encode(
        x=intervals.time_axis(span_s),
        y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=True), axis=theme.value_axis(ticks=3)),
        color=alt.Color("name:N", scale=theme.in_turn(names), legend=legend),
        tooltip=theme.tips(name=panel, t_s=("Second", ".2f"), value=("Value", ",.4~g")),
    )
    finding = _finding(readings, panel, are_events)
    height = _HEIGHT + (_LEGEND if legend else 0)
    return theme.titled([*intervals.shades(pauses), lines], finding, f"n = {len(readings):,} readings", height)


def _finding(readings: pd.DataFrame, panel: str, are_events: bool) -> str:
    if are_events:
        return f"{panel}: {len(readings)}, from {readings['t_s'].min():.1f} to {readings['t_s'].max():.1f} s"
    worst = readings.loc[readings["value"].idxmax()]
    which = f", {worst['name']}" if worst["name"] else ""
    return f"{panel}{which}: at most {wording.number(worst['value'])} at {worst['t_s']:.1f} s"
