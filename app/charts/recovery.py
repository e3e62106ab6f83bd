"""Charts of the time after an event: clients waiting, and requests per second."""

import json
from collections.abc import Mapping
from typing import Final

import altair as alt
import numpy as np
import pandas as pd

from dropline.app.charts import theme
from dropline.inference.recovery import Course

MOST_POINTS: Final = 300  # per line
_TICKS: Final = {
    **{1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min"},
    **{3600: "1 h", 36000: "10 h", 86400: "1 d", 864000: "10 d"},
}
_HEIGHT: Final = 320  # pixels
_WAITING: Final = {"no lease": theme.LIMIT_COLOUR, "lease still valid": theme.SERIES_COLOURS["sent"]}
_REQUESTS: Final = {
    "repeated": theme.LIMIT_COLOUR,
    "for the first time": theme.SERIES_COLOURS["sent"],
    "answered": theme.SERIES_COLOURS["received"],
}


def points(course: Course) -> pd.DataFrame:
    """Return t_s, the middle of each period, with the clients waiting at its end and the requests per second.

    Several periods make a point, but the busiest and the one with most waiting stand alone: text names their figures.
    """
    size, busiest = course.served.size, int(np.argmax(course.repeated / np.diff(course.edges)))
    told = [busiest, busiest + 1, int(np.argmax(course.waiting)) + 1, size]
    ends = np.unique(np.append(np.arange(0, size, -(-size // (MOST_POINTS - len(told)))), told))
    edges, begins, lasts = course.edges[ends], ends[:-1], ends[1:] - 1
    waiting = zip(_WAITING, (course.without_lease, course.renewing), strict=True)
    requests = zip(_REQUESTS, (course.repeated, course.sent - course.repeated, course.answered), strict=True)
    return pd.DataFrame(
        {"t_s": (edges[:-1] + edges[1:]) / 2}
        | {name: clients[lasts] for name, clients in waiting}
        | {name: np.add.reduceat(sent, begins) / np.diff(edges) for name, sent in requests}
    )


def waiting(drawn: pd.DataFrame, finding: str) -> alt.LayerChart:
    """Draw the number of waiting clients, without and with a lease; `drawn` as from `points`."""
    return _lines(drawn, _WAITING, "Waiting clients", finding, "Clients without an answer")


def requests(drawn: pd.DataFrame, finding: str) -> alt.LayerChart:
    """Draw requests and answers per second; `drawn` as from `points`."""
    return _lines(drawn, _REQUESTS, "Requests per second", finding, "Requests from clients, and those answered")


def time_axis(table: pd.DataFrame) -> alt.X:
    """Return the logarithmic time axis of a table with `t_s`, in everyday units."""
    ticks = [each for each in _TICKS if table["t_s"].min() <= each <= table["t_s"].max()]
    axis = alt.Axis(values=ticks, labelExpr=f"{json.dumps(_TICKS)}[datum.value]", labelFlush=False, grid=False)
    return alt.X("t_s:Q", title="Time after the event", scale=alt.Scale(type="log", nice=False), axis=axis)


def _lines(table: pd.DataFrame, colours: Mapping[str, str], axis: str, finding: str, detail: str) -> alt.LayerChart:
    long = table.melt("t_s", list(colours), "series", "value")
    drawn = alt.Chart(long, mark=alt.MarkDef("line", strokeWidth=1.8)).encode(
        x=time_axis(table),
        y=alt.Y("value:Q", title=axis, axis=theme.RATE_AXIS),
        **theme.of_series(colours, theme.LINE_DASHES[: len(colours)], columns=theme.LEGEND_COLUMNS),
        tooltip=theme.tips(series="Series", t_s=("Second", ",.0f"), value=(axis, ",.1f")),
    )
    return theme.titled([drawn], finding, detail, _HEIGHT)
