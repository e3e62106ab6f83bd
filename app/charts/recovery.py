"""The hour after an event: who waits, and what the server is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import numpy as np
import pandas as pd

from app.charts import theme

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inference.recovery import Course

MOST_PERIODS: Final = 300  # that a line is drawn of
SHORTEST_S: Final = 120  # seconds shown at least
_HEIGHT: Final = 320  # pixels
_WAITING: Final = {"no lease": theme.LIMIT_COLOUR, "lease still valid": theme.SERIES_COLOURS["sent"]}
_REQUESTS: Final = {
    "repeated": theme.LIMIT_COLOUR,
    "for the first time": theme.SERIES_COLOURS["sent"],
    "answered": theme.SERIES_COLOURS["received"],
}


def periods(course: Course) -> pd.DataFrame:
    """Return means over short periods, up to a third after the recovery: t_s, the names of the series, as columns."""
    seconds = course.served.size
    end = seconds if course.recovered_s is None else min(seconds, max(SHORTEST_S, course.recovered_s * 4 // 3))
    width = -(-end // MOST_PERIODS)
    end -= end % width
    series = {
        "no lease": course.without_lease,
        "lease still valid": course.renewing,
        "repeated": course.repeated,
        "for the first time": course.sent - course.repeated,
        "answered": course.served,
    }
    means = {name: values[:end].reshape(-1, width).mean(axis=1) for name, values in series.items()}
    return pd.DataFrame({"t_s": np.arange(end // width) * width + (width + 1) / 2, **means})


def waiting(means: pd.DataFrame, finding: str) -> alt.LayerChart:
    """Draw how many clients wait, without and with a lease; `means` as from `periods`."""
    return _lines(means, _WAITING, "Clients that wait", finding, "Clients without an answer")


def requests(means: pd.DataFrame, finding: str) -> alt.LayerChart:
    """Draw how many requests and answers there are per second; `means` as from `periods`."""
    return _lines(means, _REQUESTS, "Requests per second", finding, "Requests of clients, and those answered")


def _lines(means: pd.DataFrame, colours: Mapping[str, str], axis: str, finding: str, detail: str) -> alt.LayerChart:
    names = list(colours)
    long = means.melt("t_s", names, "series", "value")
    drawn = (
        alt.Chart(long)
        .mark_line(strokeWidth=1.8)
        .encode(
            x=alt.X("t_s:Q", title="Time after the event (s)", axis=alt.Axis(format=",~d", labelFlush=False)),
            y=alt.Y("value:Q", title=axis, axis=theme.RATE_AXIS),
            color=alt.Color(
                "series:N",
                scale=alt.Scale(domain=names, range=list(colours.values())),
                title=None,
                legend=alt.Legend(orient="top", symbolType="stroke", symbolSize=300),
            ),
            strokeDash=alt.StrokeDash(
                "series:N", scale=alt.Scale(domain=names, range=list(theme.LINE_DASHES[: len(names)])), legend=None
            ),
            tooltip=[
                alt.Tooltip("series:N", title="Series"),
                alt.Tooltip("t_s:Q", title="Second", format=",.0f"),
                alt.Tooltip("value:Q", title=axis, format=",.1f"),
            ],
        )
    )
    return theme.titled(alt.layer(drawn), finding, detail, _HEIGHT)
