"""Charts of the loss ratio over the offered rate, with the limit."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

import altair as alt
import pandas as pd

from dropline.app import wording
from dropline.app.charts import theme

REQUIRED: Final = (
    *("label", "line", "backend", "offered_rate", "achieved_rate", "loss_ratio"),
    *("lowest_loss_ratio", "highest_loss_ratio", "runs"),
)
CHOSEN: Final = "chosen_limit"  # selection that holds `limit`, a ratio, after a click or a drag
TICKS: Final = (0, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1)
_HEIGHT: Final = 460  # pixels
_LEGEND_ROW: Final = 30
LINEAR_BELOW: Final = 0.002  # symlog: the axis includes zero loss
# For one file's trials among known curves.
KNOWN: Final = ("configuration_id", "configuration", "backend", "offered_rate", "loss_ratio", "runs")
TRIED: Final = ("trial", "offered_rate", "loss_ratio")
_KNOWN_HEIGHT: Final = 400
_RATE_AXIS: Final = alt.Axis(format="~s", tickCount=6, labelOverlap=True)
_COLOUR, _EDGE = "#e69f00", "#222222"  # bright on a dark background, edged on a light one
_MOST_POINTS: Final = 500  # on known curves; more would overlap
_NAMED: Final = 3  # most trials whose names do not overlap
# Selectable limits as (upper end, step), about as far apart as a pointer can resolve.
_CHOICES: Final = ((0.01, 0.0005), (0.05, 0.001), (0.2, 0.005), (1.0, 0.01))


def loss_over_rate(
    steps: pd.DataFrame,
    limit: float | None,
    lost: str,
    unit: str,
    finding: str,
    *,
    colours: Mapping[str, str] | None = None,
    choosable: bool = False,
) -> alt.LayerChart:
    """Draw one curve per `label` and `line`, and the limit of the loss goal, a ratio, across.

    `steps` has the columns of `REQUIRED`: rates in `unit`, loss ratios 0..1 of the curve and of its runs; `lost` is the
    kind of loss, from `wording.lost`. `colours` maps labels to colours, as from `theme.told_apart`, by default those of
    the steps' backends. If `choosable`, a click or a drag chooses a limit, reported by the selection `CHOSEN`.
    """
    steps = steps.loc[:, list(REQUIRED)].assign(backend=steps["backend"].fillna(""))
    colours = colours or theme.told_apart(dict(zip(steps["label"], steps["backend"], strict=True)))
    top = float(min(1.0, max([*steps["loss_ratio"], 2 * (limit or 0), 0.05])))
    lines = list(dict.fromkeys(steps["label"]))
    height = _HEIGHT + _LEGEND_ROW * len(lines)  # the legend takes its space from the chart
    many = len(lines) > len(theme.LINE_DASHES)
    symbol: dict[str, Any] = {"symbolSize": 120} if many else {"symbolSize": 500, "symbolType": "stroke"}
    legend = alt.Legend(orient="bottom", columns=1, labelLimit=700, rowPadding=0, **symbol)
    by_label: dict[str, Any] = {"sort": lines, "title": "Configuration", "legend": legend if len(lines) > 1 else None}
    base = alt.Chart(steps).encode(
        x=alt.X("offered_rate:Q", title=f"Offered rate ({unit})", axis=theme.RATE_AXIS),
        y=loss_axis(lost, top),
        color=alt.Color("label:N", scale=alt.Scale(domain=lines, range=[colours[each] for each in lines]), **by_label),
        detail=[alt.Detail("label:N"), alt.Detail("line:N")],
        tooltip=[
            *theme.tips(label="Configuration", line="Run", offered_rate=(f"Offered ({unit})", ",.0f")),
            *theme.tips(achieved_rate=(f"Achieved ({unit})", ",.0f"), loss_ratio=("Loss", ".3%"), runs=("Runs (n)",)),
        ],
    )
    spread = base.transform_filter("datum.runs > 1").mark_rule(strokeWidth=4, opacity=0.25)
    points = base.mark_point(size=36, filled=True, opacity=1)
    curves = [
        base.mark_line(strokeWidth=1.8, opacity=0.85).encode(
            strokeDash=alt.StrokeDash("label:N", scale=theme.in_turn(lines, theme.LINE_DASHES), **by_label)
        ),
        # points distinguish lines with the same dash
        points.encode(shape=alt.Shape("label:N", scale=theme.in_turn(lines, theme.POINT_SHAPES, 4), **by_label))
        if many
        else points,
        spread.encode(y=alt.Y("lowest_loss_ratio:Q"), y2=alt.Y2("highest_loss_ratio:Q")),
    ]
    detail = f"{_runs(steps)}. The axis is logarithmic above 0.2 %"
    if limit is None:
        return theme.titled(curves, finding, detail, height)
    limit_row = {"values": [{"limit": limit, "text": f"limit {100 * limit:g} %"}]}
    line = alt.Chart(limit_row).mark_rule(color=theme.LIMIT_COLOUR, strokeWidth=1.5, strokeDash=[4, 3])
    text = alt.Chart(limit_row).mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=theme.INK, fontSize=12)
    return theme.titled(
        [
            *(_choice(top) if choosable else ()),
            *curves,
            line.encode(y=alt.Y("limit:Q")),
            text.encode(y=alt.Y("limit:Q"), x=alt.XValue(0), text=alt.Text("text:N")),
        ],
        finding,
        f"{detail}; red: the limit of {100 * limit:g} %",
        height,
    )


def among_known(known: pd.DataFrame, tried: pd.DataFrame, limit: float, unit: str, finding: str) -> alt.LayerChart:
    """Draw a thin line per known configuration, a diamond per trial of the file, and the limit of the loss goal.

    `known` has the columns of `KNOWN`, `tried` those of `TRIED`: rates in `unit`, loss ratio 0..1 like the limit. The
    lines have marks at their steps unless these are too many to tell apart.
    """
    known = known.loc[known["offered_rate"] > 0, list(KNOWN)]  # the axis is logarithmic
    tried = tried.loc[:, list(TRIED)]
    top = float(min(1.0, max([*known["loss_ratio"], *tried["loss_ratio"], 2 * limit])))
    x = alt.X(
        "offered_rate:Q", title=f"Offered rate ({unit})", scale=alt.Scale(type="log", nice=False), axis=_RATE_AXIS
    )
    y = loss_axis(wording.lost("worst_exchange", [unit]), top)
    figures = theme.tips(offered_rate=(f"Offered ({unit})", ",.0f"), loss_ratio=("Loss", ".3%"))
    told_apart = len(known) <= _MOST_POINTS
    points = alt.OverlayMarkDef(size=14, opacity=0.4) if told_apart else False
    of_step = [*figures, *theme.tips(runs=("Runs",))] if told_apart else []
    curves = alt.Chart(known, mark=alt.MarkDef("line", point=points, strokeWidth=1.2, opacity=0.4)).encode(
        x=x,
        y=y,
        color=theme.backend_legend(known["backend"].fillna("")),
        detail=alt.Detail("configuration_id:N"),
        tooltip=[*theme.tips(configuration="Known"), *of_step],
    )
    rule = alt.Chart({"values": [{"limit": limit}]}).mark_rule(color=theme.LIMIT_COLOUR, strokeDash=[4, 3])
    own = alt.Chart(tried).encode(x=x, y=y, tooltip=[*theme.tips(trial="This file"), *figures])
    layers = [
        curves,
        rule.encode(y=alt.Y("limit:Q")),
        own.mark_point(shape="diamond", size=320, filled=True, opacity=1, color=_COLOUR, stroke=_EDGE, strokeWidth=1.5),
    ]
    if len(tried) <= _NAMED:
        names = own.mark_text(dy=-20, color=theme.INK, fontSize=12, fontWeight="bold")
        layers.append(names.encode(text=alt.Text("trial:N")))
    runs = f"{wording.plural(known['configuration_id'].nunique(), 'known configuration')}, median of the runs"
    detail = f"Diamonds: this file, n = {len(tried)}; lines: {runs}; red: the limit of {100 * limit:g} %"
    return theme.titled(layers, finding, detail, _KNOWN_HEIGHT)


def loss_axis(lost: str, top: float) -> alt.Y:
    """Return the axis of `loss_ratio` up to `top`, logarithmic except for the smallest losses."""
    return alt.Y(
        "loss_ratio:Q",
        title=f"Loss ({lost})",
        scale=alt.Scale(type="symlog", constant=LINEAR_BELOW, domain=[0, top], clamp=True),
        axis=alt.Axis(values=[tick for tick in TICKS if tick <= top], format=".1~%"),
    )


def _runs(steps: pd.DataFrame) -> str:
    """Return the meaning of a curve and its bars, with the number of runs."""
    if steps["runs"].max() <= 1:
        runs = len(steps[["label", "line"]].drop_duplicates())
        is_several = runs > steps["label"].nunique()
        return f"n = {runs} runs" if is_several else "One run per line, the median of its trials at each rate"
    runs = steps.groupby("label")["runs"].max()
    return f"Median of n = {wording.span(runs.min(), runs.max())} runs each; bars: from the lowest to the highest run"


def _choice(top: float) -> list[alt.Chart]:
    """Return an invisible layer that takes clicks and drags, and one that shows the limit under the pointer."""
    drag = "[@limits_marks:pointerdown, window:pointerup] > @limits_marks:pointermove"
    chosen = alt.selection_point(
        name=CHOSEN, fields=["limit"], on=f"@limits_marks:click, {drag}", toggle=False, clear=False, empty=False
    )
    base = alt.Chart({"values": list(_bands(top))})
    bands = base.mark_rect(opacity=0, cursor="row-resize", aria=False).encode(
        y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), tooltip=[alt.Tooltip("limit:Q", title="Set the limit to", format=".2~%")]
    )
    line = base.mark_rule(color=theme.LIMIT_COLOUR, strokeWidth=2, aria=False).encode(y=alt.Y("limit:Q"))
    return [bands.properties(name="limits").add_params(chosen), line.transform_filter(chosen)]


def _bands(top: float) -> Iterator[dict[str, float]]:
    """Yield the selectable limits, each with the range of the axis where a click selects it."""
    limits = [0.0]
    for end, step in _CHOICES:
        while limits[-1] + step / 2 < min(end, top):
            limits.append(round(limits[-1] + step, 4))
    edges = [0.0, *((one + other) / 2 for one, other in pairwise(limits)), top]
    for limit, (low, high) in zip(limits, pairwise(edges), strict=True):
        yield {"limit": limit, "low": low, "high": high}
