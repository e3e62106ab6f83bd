"""Charts of the report as SVG: small, without scripts, readable by people and by screen readers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree

from dropline.app.charts import ramp, theme

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dropline.report.sections import Chart, Series

WIDTH: Final = 460
HEIGHT: Final = 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 26, 26, 44  # margins around the plot
_LINEAR_BELOW: Final = 0.002  # no loss at all has its place on the logarithmic axis
_FEW: Final = 120  # up to so many points of a line are marked


def svg(chart: Chart, key: str) -> str:
    """Draw a chart.

    Args:
        chart: what to draw; at least one series has a point.
        key: begins the ids in it; unique in the page.

    Returns:
        An `svg` element that takes the colours of text and lines from the page's `currentColor`.
    """
    points = [point for series in chart.series for point in series.points]
    top_x = max(x for x, _, _ in points)
    ticks_x = nice(top_x)
    ticks_y = _loss_ticks(chart, points) if chart.is_loss else nice(max(y for _, y, _ in points))
    across = _across(max(top_x, ticks_x[-1]))
    up = _up(ticks_y[-1], _symlog if chart.is_loss else float)

    root = ElementTree.Element(
        "svg",
        {
            "viewBox": f"0 0 {WIDTH} {HEIGHT}",
            "role": "img",
            "aria-labelledby": f"{key}-title {key}-desc",
            "xmlns": "http://www.w3.org/2000/svg",
        },
    )
    _text(root, "title", chart.title, id=f"{key}-title")
    _text(root, "desc", chart.description, id=f"{key}-desc")
    _axes(root, chart, [(across(x), f"{x:,g}") for x in ticks_x], [(up(y), _tick(y, chart)) for y in ticks_y])
    if chart.loss_limit is not None:
        _limit(root, up(chart.loss_limit), f"limit {100 * chart.loss_limit:g} %")
    for place, series in enumerate(chart.series):
        _series(root, series, across, up)
        if not chart.is_loss:
            _legend(root, series, _LEFT + 90 * place)
    return ElementTree.tostring(root, encoding="unicode")


def nice(top: float, about: int = 5) -> list[float]:
    """Return about so many round numbers from 0 to at least `top`, in steps of 1, 2 or 5 times a power of ten."""
    step = max(1.0, top / about)
    power = 10.0 ** math.floor(math.log10(step))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * 0.999)
    return [step * place for place in range(max(1, math.ceil(top / step * 0.999)) + 1)]


def _loss_ticks(chart: Chart, points: Sequence[tuple[float, float, str]]) -> list[float]:
    top = max([*(y for _, y, _ in points), 2 * (chart.loss_limit or 0), 0.05])
    above = next((tick for tick in ramp.TICKS if tick >= top), 1)
    return [tick for tick in ramp.TICKS if tick <= above]


def _symlog(ratio: float) -> float:
    return math.log1p(ratio / _LINEAR_BELOW)


def _across(top: float) -> Callable[[float], float]:
    return lambda x: _LEFT + (WIDTH - _LEFT - _RIGHT) * x / top


def _up(top: float, scale: Callable[[float], float]) -> Callable[[float], float]:
    return lambda y: HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * scale(max(0, min(y, top))) / scale(top)


def _tick(value: float, chart: Chart) -> str:
    return f"{100 * value:g} %" if chart.is_loss else f"{value:,g}"


def _axes(
    root: ElementTree.Element, chart: Chart, across: Sequence[tuple[float, str]], up: Sequence[tuple[float, str]]
) -> None:
    floor = HEIGHT - _BOTTOM
    for x, text in across:
        _line(root, x, floor, x, floor + 4, "axis")
        _text(root, "text", text, x=_at(x), y=_at(floor + 16), **{"text-anchor": "middle"})
    for y, text in up:
        _line(root, _LEFT, y, WIDTH - _RIGHT, y, "grid")
        _text(root, "text", text, x=_at(_LEFT - 6), y=_at(y + 4), **{"text-anchor": "end"})
    _line(root, _LEFT, floor, WIDTH - _RIGHT, floor, "axis")
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    _text(root, "text", chart.x_title, x=_at(middle), y=_at(HEIGHT - 8), **{"text-anchor": "middle"})
    _text(root, "text", chart.y_title, x="4", y="12")


def _limit(root: ElementTree.Element, y: float, text: str) -> None:
    _line(root, _LEFT, y, WIDTH - _RIGHT, y, "limit", stroke=theme.LIMIT_COLOUR)
    _text(root, "text", text, x=_at(WIDTH - _RIGHT), y=_at(y - 4), fill=theme.LIMIT_COLOUR, **{"text-anchor": "end"})


def _series(
    root: ElementTree.Element, series: Series, across: Callable[[float], float], up: Callable[[float], float]
) -> None:
    colour = _colour(series)
    if series.is_line:
        path = " ".join(f"{_at(across(x))},{_at(up(y))}" for x, y, _ in series.points)
        ElementTree.SubElement(root, "polyline", {"points": path, "stroke": colour, "class": f"line {series.name}"})
    if len(series.points) > _FEW:
        return
    for x, y, told in series.points:
        place = {"cx": _at(across(x)), "cy": _at(up(y)), "r": "3", "fill": colour}
        dot = ElementTree.SubElement(root, "circle", place | ({} if series.is_line else {"class": "run"}))
        _text(dot, "title", told)


def _legend(root: ElementTree.Element, series: Series, x: float) -> None:
    shift = 96  # beside the title of the axis
    ElementTree.SubElement(
        root,
        "polyline",
        {"points": f"{x + shift},8 {x + shift + 22},8", "stroke": _colour(series), "class": f"line {series.name}"},
    )
    _text(root, "text", series.name, x=_at(x + shift + 27), y="12")


def _colour(series: Series) -> str:
    return theme.SERIES_COLOURS.get(series.paint) or theme.backend_colour(series.paint)


def _line(root: ElementTree.Element, x1: float, y1: float, x2: float, y2: float, kind: str, **more: str) -> None:
    ends = {"x1": _at(x1), "y1": _at(y1), "x2": _at(x2), "y2": _at(y2)}
    ElementTree.SubElement(root, "line", ends | {"class": kind} | more)


def _text(parent: ElementTree.Element, tag: str, text: str, **attributes: str) -> None:
    ElementTree.SubElement(parent, tag, attributes).text = text


def _at(value: float) -> str:
    return f"{value:.1f}"
