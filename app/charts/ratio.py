"""Ratios of two rates with their intervals, and rates over thread counts with the fitted law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt

from dropline.app import words
from dropline.app.charts import theme

if TYPE_CHECKING:
    import pandas as pd

REQUIRED: Final = ("row", "backend", "ratio", "ci_low", "ci_high", "shown", "verdict", "origin")
FULLNESS: Final = {"faster": 1, "slower": 1, "probably faster": 0.4, "probably slower": 0.4}
_AXIS: Final = alt.Axis(format=",~f", tickCount=alt.ExprRef("containerSize()[0] < 500 ? 4 : 12"))
POINTS: Final = ("threads", "rate", "fitted_rate", "efficiency_ratio", "is_above_cores", "rated_runs")


def ratios(pairs: pd.DataFrame, finding: str, detail: str) -> alt.LayerChart:
    """Draw one ratio a line on a logarithmic axis around 1: filled where told apart, lightly where only probably.

    Args:
        pairs: the columns of `REQUIRED`; `shown` is the ratio in words.
        finding: the title.
        detail: what stands below it.
    """
    pairs = theme.with_backends(pairs.loc[:, list(REQUIRED)])
    pairs = pairs.assign(fullness=pairs["verdict"].map(FULLNESS).fillna(0))
    rows = list(dict.fromkeys(pairs["row"]))
    y = alt.Y("row:N", sort=rows, title=None, axis=theme.ROW_AXIS)
    scale = alt.Scale(type="log", nice=False, padding=20)
    colour = theme.backend_legend(pairs["backend"])
    one = alt.Chart({"values": [{"one": 1}]}).mark_rule(color=theme.NEUTRAL, strokeDash=[4, 3]).encode(x="one:Q")
    bars = (
        alt.Chart(pairs.dropna(subset=["ci_low", "ci_high"]))
        .mark_rule(strokeWidth=4, opacity=0.5)
        .encode(y=y, x=alt.X("ci_low:Q", scale=scale), x2="ci_high:Q", color=colour)
    )
    dots = (
        alt.Chart(pairs)
        .mark_point(size=110, strokeWidth=2)
        .encode(
            y=y,
            x=alt.X("ratio:Q", title="Ratio (times)", scale=scale, axis=_AXIS),
            color=colour,
            fill=colour,
            fillOpacity=alt.FillOpacity("fullness:Q", scale=None, legend=None),
            tooltip=[
                alt.Tooltip("row:N", title="Pair"),
                alt.Tooltip("shown:N", title="Ratio"),
                alt.Tooltip("verdict:N", title="Verdict"),
            ],
        )
    )
    return theme.titled(alt.layer(one, bars, dots), finding, detail, alt.Step(theme.ROW_HEIGHT))


def thread_scaling(points: pd.DataFrame, backend: str | None, unit: str, finding: str) -> alt.LayerChart:
    """Draw the rate over the threads, with the fitted law where there is one.

    Args:
        points: the columns of `POINTS`, one row per thread count.
        backend: whose colour they take.
        unit: unit of the rates.
        finding: the title.
    """
    points = points.loc[:, list(POINTS)]
    colour = theme.backend_colour(backend)
    axis = alt.Axis(format="d", tickCount=8, tickMinStep=1)
    x = alt.X("threads:Q", title="Threads", axis=axis, scale=alt.Scale(zero=True))
    base = alt.Chart(points)
    dots = base.mark_point(size=90, filled=True, color=colour).encode(
        x=x,
        y=alt.Y("rate:Q", title=f"Capacity ({unit})", axis=theme.value_axis()),
        shape=alt.condition("datum.is_above_cores", alt.value("triangle-up"), alt.value("circle")),
        tooltip=[
            alt.Tooltip("threads:Q", title="Threads"),
            alt.Tooltip("rate:Q", title=f"Capacity ({unit})", format=",.0f"),
            alt.Tooltip("fitted_rate:Q", title="By the law", format=",.0f"),
            alt.Tooltip("efficiency_ratio:Q", title="Efficiency per thread", format=".0%"),
            alt.Tooltip("rated_runs:Q", title="Runs (n)"),
        ],
    )
    law = base.transform_filter("isValid(datum.fitted_rate)").mark_line(color=colour, opacity=0.6)
    runs = points["rated_runs"].dropna()
    counts = (
        f", n = {words.span(runs.min(), runs.max())} {'run' if runs.max() == 1 else 'runs'} each" if len(runs) else ""
    )
    detail = (
        f"{len(points)} thread counts{counts}; line: the Universal Scalability Law; triangle: more threads than cores"
    )
    return theme.titled(alt.layer(law.encode(x=x, y="fitted_rate:Q"), dots), finding, detail, 320)
