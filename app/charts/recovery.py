"""Charts of the time after an event: clients waiting, requests per second, and demand against capacities."""

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
STEPS: Final = ("t_s", "lps")
CAPACITIES: Final = ("label", "rate", "low", "high", "shown")
_DEMAND_HEIGHT: Final = 340
_WAITING: Final = {"no lease": theme.LIMIT_COLOUR, "lease still valid": theme.SERIES_COLOURS["sent"]}
_REQUESTS: Final = {
    "repeated": theme.LIMIT_COLOUR,
    "for the first time": theme.SERIES_COLOURS["sent"],
    "answered": theme.SERIES_COLOURS["received"],
}


def points(course: Course) -> pd.DataFrame:
    """Return points of a course: t_s, the middle of a period, the clients waiting at its end, and requests per second.

    A point may span several periods, except for the busiest and the one with most waiting, whose figures texts give.
    """
    size, busiest = course.served.size, int(np.argmax(course.repeated / np.diff(course.edges)))
    kept = [busiest, busiest + 1, int(np.argmax(course.waiting)) + 1, size]
    ends = np.unique(np.append(np.arange(0, size, -(-size // (MOST_POINTS - len(kept)))), kept))
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


def against_capacities(steps: pd.DataFrame, capacities: pd.DataFrame, finding: str, detail: str) -> alt.LayerChart:
    """Draw the need over the time after the event, and each capacity as a line with its range as a band.

    `steps` has the columns of `STEPS`: start in seconds, and leases per second needed from then on; the last row marks
    the end. `capacities` has those of `CAPACITIES`: rates in leases per second, and the figure as text.
    """
    x = time_axis(steps)
    scale = alt.Scale(type="symlog", constant=10, nice=False, padding=12)
    axis = alt.Axis(labelExpr=theme.AMOUNTS, values=[0, 10, 100, 1000, 10_000, 100_000, 1_000_000], labelFlush=False)
    y = alt.Y("lps:Q", title="Leases per second", scale=scale, axis=axis)
    need = alt.Chart(steps.loc[:, list(STEPS)])
    known = alt.Chart(capacities.loc[:, list(CAPACITIES)].assign(top=capacities[["rate", "high"]].max(axis="columns")))
    green = theme.DISTINCT_COLOURS[2]
    tooltip = theme.tips(label="Configuration", shown="Leases/s")
    tips = theme.tips(t_s=("From second", ",.0f"), lps=("Leases/s needed", ",.4~f"))
    layers = [
        known.mark_rect(color=green, opacity=0.16).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), tooltip=tooltip),
        known.mark_rule(color=green, strokeWidth=1.5).encode(y=alt.Y("rate:Q"), tooltip=tooltip),
        known.mark_text(align="right", baseline="bottom", dy=-3, dx=-4, fontSize=11, color=theme.INK, limit=420).encode(
            x=alt.XValue("width"), y=alt.Y("top:Q"), text=alt.Text("label:N")
        ),
        need.mark_area(color=theme.LIMIT_COLOUR, opacity=0.18, interpolate="step-after").encode(x=x, y=y),
        need.mark_line(color=theme.LIMIT_COLOUR, strokeWidth=2.2, interpolate="step-after").encode(
            x=x, y=y, tooltip=tips
        ),
    ]
    return theme.titled(layers, finding, detail, _DEMAND_HEIGHT)


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
