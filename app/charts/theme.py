"""One look for all charts: colours that colour-blind people can tell apart, on light and on dark ground."""

from __future__ import annotations

import textwrap
import zlib
from typing import TYPE_CHECKING, Any, Final

import altair as alt

if TYPE_CHECKING:
    from collections.abc import Iterable

# Okabe and Ito, "Color Universal Design" (2008), without the hues that fade on white; each has a contrast of
# about three to one against white and against near-black.
BACKEND_COLOURS: Final = {
    "memfile": "#2488d0",
    "mysql": "#dd6517",
    "postgresql": "#14a077",
    "lmdb": "#c0649b",
    "sqlite": "#a6761d",
    "cassandra": "#7a6fd0",
}
SPARE_COLOURS: Final = ("#3d8f9e", "#b3567c", "#80852b", "#6f87b5", "#ad6a45", "#5b9a5b")
NO_BACKEND: Final = "#828791"
LIMIT_COLOUR: Final = "#dc3c55"
NEUTRAL: Final = "#828791"
SERIES_COLOURS: Final = {"sent": "#828791", "received": "#2488d0", "drops": "#dc3c55"}
DISTINCT_COLOURS: Final = ("#2488d0", "#dd6517", "#14a077", "#c0649b")  # for few things that are no backends
PAUSE_COLOUR: Final = "#e69f00"
TIME_AXIS: Final = alt.Axis(format=",~g", tickMinStep=1, labelFlush=False)
VALUE_AXIS_WIDTH: Final = 64  # pixels; charts below each other share their time axis

LINE_DASHES: Final = ([1, 0], [6, 3], [2, 2], [9, 3, 2, 3])
POINT_SHAPES: Final = ("circle", "square", "diamond", "triangle-up")
ORIGINS: Final = ("measured", "published")
ROW_HEIGHT: Final = 26
RATE_AXIS: Final = alt.Axis(format=",.4~f", tickCount=7, labelFlush=False)
# Pixels, and columns: a narrow screen keeps room for the marks, and its legend is not cut.
_LABEL_WIDTH: Final = alt.ExprRef("min(460, 0.5 * containerSize()[0])")
_LEGEND_COLUMNS: Final = alt.ExprRef("containerSize()[0] < 500 ? 1 : 8")
ROW_AXIS: Final = alt.Axis(ticks=False, domain=False, labelLimit=_LABEL_WIDTH, labelFlush=False)
TITLE_WIDTH: Final = 72  # characters


def backend_colour(backend: str | None) -> str:
    """Return the colour of a backend: the same in every chart and session, also for one never seen before."""
    if not backend:
        return NO_BACKEND
    spare = SPARE_COLOURS[zlib.crc32(backend.encode()) % len(SPARE_COLOURS)]
    return BACKEND_COLOURS.get(backend, spare)


def backend_scale(backends: Iterable[Any]) -> alt.Scale:
    """Return the colour scale over the backends of a chart, known ones first; who names none is neutral."""
    known = list(BACKEND_COLOURS)
    names = sorted({name if isinstance(name, str) else "" for name in backends}, key=lambda n: (n not in known, n))
    return alt.Scale(domain=names, range=[backend_colour(name) for name in names])


def backend_legend(backends: Iterable[Any]) -> alt.Color:
    """Return the colour encoding of the field `backend`, with its legend on top."""
    legend = alt.Legend(
        orient="top",
        symbolOpacity=1,
        symbolType="circle",
        symbolStrokeWidth=2,
        columns=_LEGEND_COLUMNS,
        labelExpr="datum.label || 'not stated'",
    )
    return alt.Color("backend:N", scale=backend_scale(backends), title="Backend", legend=legend)


def value_axis(ticks: int = 7) -> alt.Axis:
    """Return a value axis of fixed width, so that charts below each other line up on the time axis."""
    return alt.Axis(
        format=",.4~f",
        tickCount=ticks,
        labelFlush=False,
        minExtent=VALUE_AXIS_WIDTH,
        maxExtent=VALUE_AXIS_WIDTH,
    )


def title(finding: str, detail: str) -> alt.TitleParams:
    """Return a title that says the finding, with what the chart shows below it."""
    lines = textwrap.wrap(finding, TITLE_WIDTH) or [""]
    below = textwrap.wrap(detail, TITLE_WIDTH + 20)
    return alt.TitleParams(
        text=lines, subtitle=below, anchor="start", offset=12, fontSize=15, subtitleFontSize=12, subtitleColor=NEUTRAL
    )


def titled(chart: Any, finding: str, detail: str, height: int | alt.Step | None = None) -> alt.LayerChart:
    """Return the chart with its finding as title, what it shows below it, and both as text alternative."""
    size = {"height": height} if height is not None else {}
    return chart.properties(
        title=title(finding, detail),
        description=f"{finding}. {detail}".strip(),
        width="container",
        **size,
    )
