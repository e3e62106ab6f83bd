"""Chart of one file's trials among known loss curves."""

from typing import Final

import altair as alt
import pandas as pd

from dropline.app import wording
from dropline.app.charts import ramp, theme

KNOWN: Final = ("configuration_id", "configuration", "backend", "offered_rate", "loss_ratio", "runs")
TRIED: Final = ("trial", "offered_rate", "loss_ratio")
_HEIGHT: Final = 400  # pixels
_AXIS: Final = alt.Axis(format="~s", tickCount=6, labelOverlap=True)
_COLOUR, _EDGE = "#e69f00", "#222222"  # bright on a dark background, edged on a light one
_MOST_POINTS: Final = 500  # of known curves: more overlap
_NAMED: Final = 3  # trials with names beside them that do not overlap


def among_known(known: pd.DataFrame, tried: pd.DataFrame, limit: float, unit: str, finding: str) -> alt.LayerChart:
    """Draw a thin line per known configuration, a diamond per trial of the file, and the limit of the loss goal.

    `known` has the columns of `KNOWN`, `tried` those of `TRIED`: rates in `unit`, loss ratio 0..1 like the limit. The
    lines have marks at their steps if there are few enough to distinguish.
    """
    known = known.loc[known["offered_rate"] > 0, list(KNOWN)]  # a logarithm has no 0
    tried = tried.loc[:, list(TRIED)]
    top = float(min(1.0, max([*known["loss_ratio"], *tried["loss_ratio"], 2 * limit])))
    x = alt.X("offered_rate:Q", title=f"Offered rate ({unit})", scale=alt.Scale(type="log", nice=False), axis=_AXIS)
    y = ramp.loss_axis(wording.lost("worst_exchange", [unit]), top)
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
    return theme.titled(layers, finding, detail, _HEIGHT)
