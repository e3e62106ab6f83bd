"""Charts of a trial second by second: sent, answered and lost per exchange, and telemetry by kind of metric."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import pandas as pd

from dropline.app import wording
from dropline.app.charts import theme

REQUIRED: Final = ("t_s", "exchange", "series", "packets_per_s")
READINGS: Final = ("t_s", "name", "value")
_FEW, _FEW_READINGS = 120, 250  # most values for which each gets a point
_HEIGHT, _PANEL_HEIGHT = 250, 150  # pixels, with title and axis
_LEGEND: Final = 30


def second_by_second(intervals: pd.DataFrame, span_s: Sequence[float], pauses: pd.DataFrame) -> alt.LayerChart:
    """Draw the packets sent, received and dropped per second of one exchange.

    `intervals` has the columns of `REQUIRED`: `series` is sent, received or drops, t_s in seconds since the start.
    `span_s` is the time axis, shared with other charts; `pauses`, from the function of this name, are shaded.
    """
    intervals = intervals.loc[:, list(REQUIRED)]
    line = alt.MarkDef("line", strokeWidth=1.8, point=len(intervals) < _FEW)
    lines = alt.Chart(intervals, mark=line).encode(
        x=time_axis(span_s, "Time since the start (s)"),
        y=alt.Y("packets_per_s:Q", title="Packets per second", axis=theme.value_axis()),
        **theme.of_series(theme.SERIES_COLOURS, [[5, 3], [1, 0], [2, 2]]),
        tooltip=theme.tips(series="Packets", t_s=("Second", ".0f"), packets_per_s=("Packets/s", ",.0f")),
    )
    detail = f"n = {intervals['t_s'].nunique():,} interim lines of the report; drops: packets that were never answered"
    if len(pauses):
        detail += "; shaded: fewer than half as many answers as in the median second"
    layers = [*shades(pauses), lines, *_where_loss_begins(intervals)]
    return theme.titled(layers, _finding(intervals, pauses), detail, _HEIGHT)


def over_time(
    readings: pd.DataFrame, panel: str, span_s: Sequence[float], pauses: pd.DataFrame | None = None
) -> alt.LayerChart:
    """Draw the readings of one panel over `span_s`, the first and last second of all panels.

    `readings` has the columns of `READINGS`: seconds since the start of the trial, name of the metric, value. `panel`
    is the kind and unit of the metrics; `pauses` has begin_s and end_s of the shaded periods.
    """
    readings = readings.loc[:, list(READINGS)]
    names = list(dict.fromkeys(readings["name"]))
    legend = alt.Legend(orient="top", title=None, symbolType="stroke", symbolSize=300) if len(names) > 1 else None
    base = alt.Chart(readings)
    are_events = readings["value"].nunique() == 1  # single events: draw no line between them
    points = alt.OverlayMarkDef(size=20) if len(readings) < _FEW_READINGS else False
    marked = base.mark_point(filled=True, size=50) if are_events else base.mark_line(strokeWidth=1.8, point=points)
    lines = marked.encode(
        x=time_axis(span_s),
        y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=True), axis=theme.value_axis(ticks=3)),
        color=alt.Color("name:N", scale=theme.in_turn(names), legend=legend),
        tooltip=theme.tips(name=panel, t_s=("Second", ".2f"), value=("Value", ",.4~g")),
    )
    finding = _finding_of_panel(readings, panel, are_events)
    height = _PANEL_HEIGHT + (_LEGEND if legend else 0)
    return theme.titled([*shades(pauses), lines], finding, f"n = {len(readings):,} readings", height)


def pauses(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return the periods (begin_s, end_s) in which an exchange had fewer than half its median answers per second.

    A database checkpoint, for example, makes the server pause while the generator goes on.
    """
    answers = intervals[intervals["series"] == "received"].sort_values("t_s")
    times, rates = answers["t_s"].tolist(), answers["packets_per_s"].tolist()
    least = 0.5 * answers["packets_per_s"].median()
    found: list[tuple[float, float]] = []
    for begin_s, end_s, rate in zip([0.0, *times], times, rates, strict=False):
        if rate < least:
            is_next = found and found[-1][1] == begin_s
            found.append((found.pop()[0] if is_next else begin_s, end_s))
    return pd.DataFrame(found, columns=["begin_s", "end_s"], dtype=float)


def shades(pauses: pd.DataFrame | None) -> list[Any]:
    """Return a layer that shades the periods, or no layer if there are none."""
    if pauses is None or pauses.empty:
        return []
    rects = alt.Chart(pauses.loc[:, ["begin_s", "end_s"]]).mark_rect(color=theme.PAUSE_COLOUR, opacity=0.22)
    return [rects.encode(x=alt.X("begin_s:Q"), x2=alt.X2("end_s:Q"))]


def time_axis(span_s: Sequence[float], title: str | None = None) -> alt.X:
    """Return the time axis of a trial, in seconds since its start, over `span_s`."""
    scale = alt.Scale(domain=list(span_s), nice=False)
    return alt.X("t_s:Q", title=title, axis=theme.TIME_AXIS, scale=scale)


def _where_loss_begins(intervals: pd.DataFrame) -> list[Any]:
    """Return layers with a line and a label at the first second with lost packets; empty without losses."""
    first = _drops(intervals)["t_s"].min()
    if pd.isna(first):
        return []
    place = alt.Chart({"values": [{"t_s": first, "text": f"the loss begins in second {first:.0f}"}]})
    is_late = first > 0.4 * intervals["t_s"].max()
    side = {"align": "right", "dx": -5} if is_late else {"align": "left", "dx": 5}
    words = place.mark_text(fontSize=12, color=theme.INK, **side)
    return [
        place.mark_rule(color=theme.LIMIT_COLOUR, strokeDash=[4, 3]).encode(x=alt.X("t_s:Q")),
        words.encode(x=alt.X("t_s:Q"), y=alt.YValue(alt.ExprRef("height / 2")), text=alt.Text("text:N")),
    ]


def _drops(intervals: pd.DataFrame) -> pd.DataFrame:
    return intervals[(intervals["series"] == "drops") & (intervals["packets_per_s"] > 0)]


def _finding(intervals: pd.DataFrame, pauses: pd.DataFrame) -> str:
    exchange = next(iter(intervals["exchange"]), "No exchange")
    drops = _drops(intervals)
    dips = "" if pauses.empty else f"; answers dip from second {pauses['begin_s'].iloc[0]:.0f}"
    if drops.empty:
        return f"{exchange}: no packet was lost in any second{dips}"
    worst = drops.loc[drops["packets_per_s"].idxmax()]
    return (
        f"{exchange}: the loss begins in second {drops['t_s'].min():.0f}; the worst is "
        f"{worst['packets_per_s']:,.0f} packets/s in second {worst['t_s']:.0f}{dips}"
    )


def _finding_of_panel(readings: pd.DataFrame, panel: str, are_events: bool) -> str:
    if are_events:
        return f"{panel}: {len(readings)}, from {readings['t_s'].min():.1f} to {readings['t_s'].max():.1f} s"
    worst = readings.loc[readings["value"].idxmax()]
    which = f", {worst['name']}" if worst["name"] else ""
    return f"{panel}{which}: at most {wording.number(worst['value'])} at {worst['t_s']:.1f} s"
