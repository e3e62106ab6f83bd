"""A trial second by second: what was sent, answered and lost in an exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt

from app.charts import theme

if TYPE_CHECKING:
    import pandas as pd

REQUIRED: Final = ("t_s", "exchange", "series", "packets_per_s")
_FEW: Final = 120  # up to so many values each is marked by a point
_HEIGHT: Final = 260  # pixels


def second_by_second(intervals: pd.DataFrame) -> alt.LayerChart:
    """Draw the packets sent, received and dropped per second of one exchange.

    Args:
        intervals: the columns of `REQUIRED`, one exchange; `series` is sent, received or drops; t_s in seconds since
            the start.
    """
    intervals = intervals.loc[:, list(REQUIRED)]
    series = list(theme.SERIES_COLOURS)
    lines = (
        alt.Chart(intervals)
        .mark_line(strokeWidth=1.8, point=len(intervals) < _FEW)
        .encode(
            x=alt.X(
                "t_s:Q",
                title="Time since the start (s)",
                axis=alt.Axis(format=",~d", tickMinStep=1, labelFlush=False),
            ),
            y=alt.Y("packets_per_s:Q", title="Packets per second", axis=theme.RATE_AXIS),
            color=alt.Color(
                "series:N",
                scale=alt.Scale(domain=series, range=list(theme.SERIES_COLOURS.values())),
                title=None,
                legend=alt.Legend(orient="top", symbolType="stroke", symbolSize=300),
            ),
            strokeDash=alt.StrokeDash(
                "series:N", scale=alt.Scale(domain=series, range=[[5, 3], [1, 0], [2, 2]]), legend=None
            ),
            tooltip=[
                alt.Tooltip("series:N", title="Packets"),
                alt.Tooltip("t_s:Q", title="Second", format=".0f"),
                alt.Tooltip("packets_per_s:Q", title="Packets/s", format=",.0f"),
            ],
        )
    )
    detail = "Packets per second from the interim lines of the report"
    return theme.titled(alt.layer(lines), _finding(intervals), detail, _HEIGHT)


def _finding(intervals: pd.DataFrame) -> str:
    exchange = next(iter(intervals["exchange"]), "No exchange")
    drops = intervals[(intervals["series"] == "drops") & (intervals["packets_per_s"] > 0)]
    if drops.empty:
        return f"{exchange}: no packet was lost in any second"
    worst = drops.loc[drops["packets_per_s"].idxmax()]
    first = drops["t_s"].min()
    return (
        f"{exchange}: losses begin at {first:.0f} s; the worst is {worst['packets_per_s']:,.0f} packets/s "
        f"at {worst['t_s']:.0f} s"
    )
