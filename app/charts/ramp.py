"""The loss ratio over the offered rate: where a ramp crosses the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt

from app.charts import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

REQUIRED: Final = ("label", "line", "backend", "offered_rate", "achieved_rate", "loss_ratio", "runs")
TICKS: Final = (0, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1)
_HEIGHT: Final = 460  # pixels
_LEGEND_ROW: Final = 30
_LINEAR_BELOW: Final = 0.002  # symlog: no loss at all has its place on the axis


def loss_over_rate(steps: pd.DataFrame, limit: float | None, basis: str, unit: str, finding: str) -> alt.LayerChart:
    """Draw one line per `line`, with the limit of the loss goal across.

    Args:
        steps: the columns of `REQUIRED`; rates in `unit`, loss ratio 0..1.
        limit: the loss goal's limit as a ratio; None draws no limit.
        basis: which loss, in words.
        unit: unit of the rates.
        finding: the title.
    """
    steps = steps.loc[:, list(REQUIRED)]
    top = float(min(1.0, max([*steps["loss_ratio"], 2 * (limit or 0), 0.05])))
    y = alt.Y(
        "loss_ratio:Q",
        title=f"Loss ({basis}, % of sent)",
        scale=alt.Scale(type="symlog", constant=_LINEAR_BELOW, domain=[0, top], clamp=True),
        axis=alt.Axis(values=[tick for tick in TICKS if tick <= top], format=".1~%"),
    )
    lines = list(dict.fromkeys(steps["label"]))
    height = _HEIGHT + _LEGEND_ROW * len(lines)  # the legend takes its room from the chart
    many = len(lines) > len(theme.LINE_DASHES)
    symbol = {} if many else {"symbolType": "stroke"}
    legend = alt.Legend(
        orient="bottom", columns=1, labelLimit=700, rowPadding=0, symbolSize=120 if many else 500, **symbol
    )
    by_label: dict[str, Any] = {
        "sort": lines,
        "title": "Configuration",
        "legend": legend if len(lines) > 1 else None,
    }
    base = alt.Chart(steps).encode(
        x=alt.X("offered_rate:Q", title=f"Offered rate ({unit})", axis=theme.RATE_AXIS),
        y=y,
        color=theme.backend_legend(steps["backend"]),
        detail="line:N",
        tooltip=[
            alt.Tooltip("label:N", title="Configuration"),
            alt.Tooltip("line:N", title="Run"),
            alt.Tooltip("offered_rate:Q", title=f"Offered ({unit})", format=",.0f"),
            alt.Tooltip("achieved_rate:Q", title=f"Achieved ({unit})", format=",.0f"),
            alt.Tooltip("loss_ratio:Q", title="Loss", format=".3%"),
            alt.Tooltip("runs:Q", title="Runs"),
        ],
    )
    points = base.mark_point(size=36, filled=True, opacity=1)
    curves = [
        base.mark_line(strokeWidth=1.8, opacity=0.85).encode(
            strokeDash=alt.StrokeDash("label:N", scale=_in_turn(lines, theme.LINE_DASHES), **by_label)
        ),
        # lines that share a dash differ in their points
        points.encode(shape=alt.Shape("label:N", scale=_in_turn(lines, theme.POINT_SHAPES, 4), **by_label))
        if many
        else points,
    ]
    detail = "Loss over the offered rate; the axis is logarithmic above 0.2 %"
    if limit is None:
        return theme.titled(alt.layer(*curves), finding, detail, height)
    limit_row = {"values": [{"limit": limit, "text": f"limit {100 * limit:g} %"}]}
    line = alt.Chart(limit_row).mark_rule(color=theme.LIMIT_COLOUR, strokeWidth=1.5, strokeDash=[4, 3])
    text = alt.Chart(limit_row).mark_text(
        align="left", baseline="bottom", dx=4, dy=-3, color=theme.LIMIT_COLOUR, fontSize=12
    )
    return theme.titled(
        alt.layer(
            *curves,
            line.encode(y="limit:Q"),
            text.encode(y="limit:Q", x=alt.value(0), text="text:N"),
        ),
        finding,
        f"{detail}; red: the limit of {100 * limit:g} %",
        height,
    )


def _in_turn(names: list[str], looks: Sequence[Any], each: int = 1) -> alt.Scale:
    """Return a scale that gives the looks to the names in turn, one look to `each` neighbours."""
    return alt.Scale(domain=names, range=[looks[place // each % len(looks)] for place in range(len(names))])
