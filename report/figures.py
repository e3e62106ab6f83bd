"""Geometry of the report's charts: positions of ticks, lines and points in chart.svg."""

import math
from collections.abc import Sequence
from typing import Any, Final

from dropline.app.charts import ramp, theme
from dropline.report.sections import Chart

WIDTH: Final = 460
HEIGHT: Final = 250
LEFT, RIGHT, TOP, FLOOR = 62, WIDTH - 26, 26, HEIGHT - 44  # the plot


def plot(chart: Chart) -> dict[str, Any]:
    """Return the values that chart.svg needs to draw a chart; at least one series must have a point."""
    points = [point for series in chart.series for point in series.points]
    top = max(x for x, _, _ in points)
    ticks_x = nice(top)
    ticks_y = _loss_ticks(chart, points) if chart.is_loss else nice(max(y for _, y, _ in points))
    right, highest = max(top, ticks_x[-1]), ticks_y[-1]

    def scale(value: float) -> float:
        return math.log1p(value / ramp.LINEAR_BELOW) if chart.is_loss else value

    def across(x: float) -> float:
        return LEFT + (RIGHT - LEFT) * x / right

    def up(y: float) -> float:
        return FLOOR - (FLOOR - TOP) * scale(max(0, min(y, highest))) / scale(highest)

    return {
        "ticks_x": [(across(x), f"{x:,.12g}") for x in ticks_x],
        "ticks_y": [(up(y), f"{100 * y:g} %" if chart.is_loss else f"{y:,.12g}") for y in ticks_y],
        "limit": None if chart.loss_limit is None else up(chart.loss_limit),
        "limit_colour": theme.LIMIT_COLOUR,
        "series": [
            {
                "series": series,
                "colour": theme.SERIES_COLOURS.get(series.paint) or theme.backend_colour(series.paint),
                "points": [(across(x), up(y), told) for x, y, told in series.points],
            }
            for series in chart.series
        ],
        **{"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT, "floor": FLOOR},
    }


def nice(top: float, about: int = 5) -> list[float]:
    """Return round numbers from 0 to about `top`, in about `about` steps of 1, 2 or 5 times a power of ten."""
    step = max(1.0, top / about)
    power = 10.0 ** math.floor(math.log10(step))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * 0.999)
    return [step * place for place in range(max(1, math.ceil(top / step * 0.999)) + 1)]


def _loss_ticks(chart: Chart, points: Sequence[tuple[float, float, str]]) -> list[float]:
    top = max([*(y for _, y, _ in points), 2 * (chart.loss_limit or 0), 0.05])
    above = next((tick for tick in ramp.TICKS if tick >= top), 1)
    return [tick for tick in ramp.TICKS if tick <= above]
