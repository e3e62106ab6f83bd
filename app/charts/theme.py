"""Look of all charts: colours that colour-blind people can tell apart, on light and dark backgrounds."""

import json
import textwrap
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import altair as alt
from altair.utils import schemapi

from dropline.app.output_formats import printable

schemapi.disable_debug_mode()  # Altair would validate each part when it is created; only the tests have time for that

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
SERIES: Final = (*BACKEND_COLOURS.values(), *SPARE_COLOURS)  # for a dozen things other than backends
LIMIT_COLOUR: Final = "#dc3c55"
NEUTRAL: Final = "#828791"
INK: Final = "currentColor"  # text has the colour of the page's own, on light and dark backgrounds
SERIES_COLOURS: Final = {"sent": "#828791", "received": "#2488d0", "drops": "#dc3c55"}
DISTINCT_COLOURS: Final = ("#2488d0", "#dd6517", "#14a077", "#c0649b")  # for a few things other than backends
PAUSE_COLOUR: Final = "#e69f00"
TIME_AXIS: Final = alt.Axis(format=",~f", tickMinStep=1, labelFlush=False)
_NUMBERS: Final = {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["", ""], "percent": " %"}
VALUE_AXIS_WIDTH: Final = 64  # pixels; charts below each other share their time axis

LINE_DASHES: Final = ([1, 0], [6, 3], [2, 2], [9, 3, 2, 3])
POINT_SHAPES: Final = ("circle", "square", "diamond", "triangle-up")
ORIGINS: Final = ("measured", "published")
# A ready channel: Altair takes 7 ms to build one from the dictionary of `alt.condition`.
FILLED_IF_MEASURED: Final = alt.FillOpacityValue(0, condition={"test": "datum.origin === 'measured'", "value": 1})
ROW_HEIGHT: Final = 26
# Millions written in full would touch each other.
AMOUNTS: Final = "datum.value < 1e6 ? format(datum.value, ',.4~f') : format(datum.value / 1e6, ',.4~f') + ' M'"
RATE_AXIS: Final = alt.Axis(labelExpr=AMOUNTS, tickCount=alt.ExprRef("containerSize()[0] < 500 ? 4 : 7"))
# On a narrow screen, labels leave room for the marks, and a legend in one column is not cut.
_LABEL_WIDTH: Final = alt.ExprRef("min(460, 0.54 * containerSize()[0])")
LEGEND_COLUMNS: Final = alt.ExprRef("containerSize()[0] < 500 ? 1 : 8")
# A long name takes two lines.
_BREAK: Final = "lastindexof(slice(datum.label, 0, max(24, 0.55 * length(datum.label))), ' ')"
_LABEL: Final = (
    f"containerSize()[0] < 500 && length(datum.label) > 30 && {_BREAK} > 0 "
    f"? [slice(datum.label, 0, {_BREAK}), slice(datum.label, {_BREAK} + 1)] : datum.label"
)
ROW_AXIS: Final = alt.Axis(
    ticks=False,
    domain=False,
    labelFlush=False,
    labelOverlap=False,
    labelLimit=_LABEL_WIDTH,
    labelExpr=_LABEL,
    labelLineHeight=11,
)
# Characters per line of title and subtitle in a container narrower than this number of pixels.
_WIDTHS: Final = ((430, 33, 50), (720, 58, 92))
_TITLE_WIDTH, _DETAIL_WIDTH = 100, 180  # in wider containers
_TITLE_ROOM: Final = 36  # pixels
_AXIS_ROOM: Final = 50
_DETAIL_LINE: Final = 16


def backend_colour(backend: str | None) -> str:
    """Return the colour of a backend, the same everywhere; for an unknown backend it follows from its name."""
    spare = SPARE_COLOURS[zlib.crc32((backend or "").encode()) % len(SPARE_COLOURS)]
    return BACKEND_COLOURS.get(backend, spare) if backend else NEUTRAL


def backend_scale(backends: Iterable[Any]) -> alt.Scale:
    """Return the colour scale for the backends of a chart, known ones first; rows without a backend are grey."""
    known = list(BACKEND_COLOURS)
    names = sorted({name if isinstance(name, str) else "" for name in backends}, key=lambda n: (n not in known, n))
    return alt.Scale(domain=names, range=[backend_colour(name) for name in names])


def in_turn(names: Sequence[str], looks: Sequence[Any] = DISTINCT_COLOURS, each: int = 1) -> alt.Scale:
    """Return a scale that assigns the looks to the names in turn, each look to `each` neighbours."""
    return alt.Scale(domain=names, range=[looks[place // each % len(looks)] for place in range(len(names))])


def tips(**fields: str | tuple[str, ...]) -> list[alt.Tooltip]:
    """Return tooltips: for each field a title or, for a number, a tuple of title and optional format."""
    return [
        alt.Tooltip(f"{name}:N", title=heading)
        if isinstance(heading, str)
        else alt.Tooltip(f"{name}:Q", **dict(zip(("title", "format"), heading, strict=False)))
        for name, heading in fields.items()
    ]


def of_series(colours: Mapping[str, str], dashes: Iterable[Sequence[int]], **legend: Any) -> dict[str, Any]:
    """Return the encodings of lines by the field `series`: colours, dashes, and a legend on top."""
    names, shown = list(colours), alt.Legend(orient="top", symbolType="stroke", symbolSize=300, **legend)
    scale, dashed = (alt.Scale(domain=names, range=list(looks)) for looks in (colours.values(), dashes))
    return {
        "color": alt.Color("series:N", scale=scale, title=None, legend=shown),
        "strokeDash": alt.StrokeDash("series:N", scale=dashed, legend=None),
    }


def told_apart(backends: Mapping[str, str | None]) -> dict[str, str]:
    """Return a colour for each label: its backend's, or distinct ones if two labels share a backend."""
    if len({each or "" for each in backends.values()}) == len(backends):
        return {label: backend_colour(backend) for label, backend in backends.items()}
    return {label: SERIES[place % len(SERIES)] for place, label in enumerate(backends)}


def backend_legend(backends: Iterable[Any]) -> alt.Color:
    """Return the colour encoding of the field `backend`, with a legend on top if there are several."""
    scale = backend_scale(backends)
    symbols = {"symbolOpacity": 1, "symbolType": "circle", "symbolStrokeWidth": 2}
    legend = alt.Legend(orient="top", **symbols, columns=LEGEND_COLUMNS, labelExpr="datum.label || 'not stated'")
    return alt.Color("backend:N", scale=scale, title="Backend", legend=legend if len(scale.domain) > 1 else None)


def value_axis(ticks: int = 7) -> alt.Axis:
    """Return a value axis of fixed width, so that charts below each other line up on the time axis."""
    return alt.Axis(
        labelExpr=AMOUNTS, tickCount=ticks, labelFlush=False, minExtent=VALUE_AXIS_WIDTH, maxExtent=VALUE_AXIS_WIDTH
    )


class Titled(alt.LayerChart):  # type: ignore[misc]  # mypy does not follow Altair
    """Layers with a title and subtitle that wrap to the screen width and that saved images contain, too.

    Vega-Lite evaluates expressions in subtitles as in titles, although its schema does not allow it.
    """

    def __init__(self, layer: Iterable[alt.Chart], **properties: Any) -> None:
        """Take the layers with their selections as they are: Altair would copy each three times and hash its rows."""
        super(alt.LayerChart, self).__init__(layer=list(layer), **properties)

    def with_frames(self) -> dict[str, Any]:
        """Return the specification with its rows as data frames, which Streamlit writes faster than Altair.

        The names of the frames do not depend on their rows, so that a browser replaces only the rows.
        """
        drawn = self.copy(deep=False)
        drawn.layer = [each.copy(deep=False) for each in self.layer]
        frames: list[Any] = []
        for part in (drawn, *drawn.layer):
            if hasattr(part.data, "columns"):
                frames.append(part.data)
                part.data = alt.NamedData(f"rows-{len(frames)}")
        written: dict[str, Any] = drawn.to_dict()
        named = {f"rows-{place}": frame for place, frame in enumerate(frames, 1)}
        return written | {"datasets": written.get("datasets", {}) | named}

    def to_dict(self, validate: bool = False, **options: Any) -> dict[str, Any]:
        """Return the specification; the tests validate it, which takes longer than drawing."""
        drawn: dict[str, Any] = super().to_dict(validate, **options)
        finding, detail = (" ".join(drawn["title"][name]) for name in ("text", "subtitle"))
        texts = [json.dumps(_lines(finding, _TITLE_WIDTH)), json.dumps(_lines(detail, _DETAIL_WIDTH))]
        for pixels, *widths in reversed(_WIDTHS):
            narrow = (json.dumps(_lines(*each)) for each in zip((finding, detail), widths, strict=True))
            is_narrow = f"containerSize()[0] < {pixels} ?"
            texts = [f"{is_narrow} {one} : {text}" for one, text in zip(narrow, texts, strict=True)]
        drawn["title"] |= {"text": {"expr": texts[0]}, "subtitle": {"expr": texts[1]}}
        return drawn


def _lines(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width) or [""]


def room(chart: alt.LayerChart) -> int:
    """Estimate the height in pixels, on a wide screen, of a chart from `titled` with a row for each name."""
    rows = max((_rows(part, chart.data) for part in chart.layer), default=0)
    return _TITLE_ROOM + _DETAIL_LINE * len(chart.title.subtitle) + ROW_HEIGHT * rows + _AXIS_ROOM


def _rows(part: Any, shared: Any) -> int:
    data, y = (shared if part.data is alt.Undefined else part.data), part.encoding.y
    name = "" if y is alt.Undefined else y.shorthand.partition(":")[0]
    return int(data[name].nunique()) if name in data else 0


def titled(layers: Iterable[Any], finding: str, detail: str, height: int | alt.Step) -> Titled:
    """Return layers, bottom first, with a title, a subtitle, and both as text alternative.

    `finding` is a sentence with the result; `detail` explains what is drawn: n, intervals, marks. `height` is in
    pixels, including axes and legends; or that of each row.
    """
    finding, detail = printable((finding, detail))
    if isinstance(height, int):  # the title takes its room from the chart
        height += _TITLE_ROOM + _DETAIL_LINE * len(_lines(detail, _DETAIL_WIDTH))
    words = {"labelColor": INK, "titleColor": INK}
    lines = {"gridColor": NEUTRAL, "gridOpacity": 0.25, "domainColor": NEUTRAL}
    layers = list(layers)
    data = max((layer.data for layer in layers), key=lambda data: sum(layer.data is data for layer in layers))
    for layer in layers:
        if layer.data is data:
            layer.data = alt.Undefined  # inherited, so it is written once
    return Titled(
        layers,
        data=data,
        # The description names the places that rules mark; without one, the layer would be an unnamed image.
        # A saved image without a background takes the text colour of wherever it is put, else black.
        config=alt.Config(
            background="transparent",
            locale={"number": _NUMBERS},
            axis=alt.AxisConfig(**words, **lines),
            legend=alt.LegendConfig(**words),
            rule=alt.MarkConfig(aria=False),
            mark=alt.MarkConfig(tooltip=None),  # else Streamlit would show the fields of lines and texts
        ),
        title=alt.TitleParams(
            text=_lines(finding, _TITLE_WIDTH),
            subtitle=_lines(detail, _DETAIL_WIDTH),
            anchor="start",
            frame="bounds",
            offset=12,
            fontSize=15,
            color=INK,
            subtitleFontSize=12,
            subtitleColor=INK,
            subtitleLineHeight=_DETAIL_LINE,
            subtitlePadding=5,
        ),
        description=f"{finding}. {detail}".strip(),
        width="container",
        height=height,
    )
