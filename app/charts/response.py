"""Chart of the distribution of response times."""

from typing import Final

import altair as alt
import pandas as pd

from dropline.app import wording
from dropline.app.charts import theme

REQUIRED: Final = ("source", "kind", "time_ms", "share_ratio", "n")
_HEIGHT: Final = 300  # pixels
_TICKS: Final = alt.Axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 0.9, 1])


def shares(times: pd.DataFrame) -> alt.LayerChart:
    """Draw a curve per source with single answers, and points for the summary of a generator.

    `times` has the columns of `REQUIRED`, sorted by source and time: source, `each` or `summary`, milliseconds above 0,
    the share of answers (0..1) within that time, and n, the number of known answers, empty for a summary.
    """
    times = times.loc[:, list(REQUIRED)]
    names = list(dict.fromkeys(times["source"]))
    scale, axis = alt.Scale(type="log", nice=False, padding=10), alt.Axis(format=",~f", labelOverlap=True, tickCount=6)
    legend = alt.Legend(orient="top", title=None, columns=theme.LEGEND_COLUMNS)
    base = alt.Chart(times).encode(
        x=alt.X("time_ms:Q", title="Response time (ms)", scale=scale, axis=axis),
        y=alt.Y("share_ratio:Q", title="Share of answers", scale=alt.Scale(domain=[0, 1]), axis=_TICKS),
        color=alt.Color("source:N", scale=theme.in_turn(names), legend=legend),
        tooltip=theme.tips(source="Answers", time_ms=("At most (ms)", ",.4~g"), share_ratio=("Share", ".1%")),
    )
    curves = base.transform_filter("datum.kind == 'each'").mark_line(interpolate="step-after", strokeWidth=1.8)
    points = base.transform_filter("datum.kind == 'summary'").mark_point(size=60, filled=True, opacity=1)
    detail = "; ".join(_counted(str(name), part) for name, part in times.groupby("source", sort=False))
    return theme.titled((curves, points), _finding(times), detail, _HEIGHT)


def _counted(source: str, part: pd.DataFrame) -> str:
    known = part["n"].dropna()
    return f"{source}: n = {known.iloc[0]:,.0f}" if len(known) else f"{source}: its own summary"


def _finding(times: pd.DataFrame) -> str:
    first = times[times["source"] == times["source"].iloc[0]]
    half, most = (wording.number(first.loc[first["share_ratio"] >= each, "time_ms"].min()) for each in (0.5, 0.99))
    return f"{first['source'].iloc[0]}: half took at most {half} ms, 99 % at most {most} ms"
