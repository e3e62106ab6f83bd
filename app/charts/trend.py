"""Chart of a series of runs: level, dips, changes of level, and what else changed."""

from typing import Final

import altair as alt
import pandas as pd

from dropline.app import wording
from dropline.app.charts import theme

REQUIRED: Final = (
    *("place", "rate", "low", "high", "level", "segment", "kind", "product_version", "run", "changed", "shown_change"),
)
KINDS: Final = ("run", "dip", "at least", "below")
_HEIGHT: Final = 360  # pixels


def runs_in_time(points: pd.DataFrame, backend: str | None, unit: str, order: str = "time") -> alt.LayerChart:
    """Draw the runs, the levels between changes, and marks where the version or the set-up changed.

    `points` has the columns of `REQUIRED`, one row per run: `rate`, in `unit`, is its rate at the limit, between `low`
    and `high`, or a bound; `segment` numbers the levels; `kind` is one of `KINDS`; `changed` names other changes at
    this run, and `shown_change` the change of level (empty: none). `order` names what the runs are sorted by.
    """
    points = points.loc[:, list(REQUIRED)]
    colour = theme.backend_colour(backend)
    kinds = [kind for kind in KINDS if kind in set(points["kind"])]
    beside = alt.Scale(domain=[points["place"].min() - 0.5, points["place"].max() + 0.5], nice=False)
    x = alt.X("place:Q", title=f"Run, in order of {order}", axis=theme.TIME_AXIS, scale=beside)
    y = alt.Y("rate:Q", title=f"Rate at the limit ({unit})", axis=theme.value_axis(), scale=alt.Scale(zero=False))
    tooltip = [
        *theme.tips(run="Run", rate=(f"Rate at the limit ({unit})", ",.0f"), level=(f"Level ({unit})", ",.0f")),
        *theme.tips(product_version="Version", changed="Also changed", shown_change="Change of level"),
    ]
    base = alt.Chart(points)
    shapes = alt.Scale(domain=list(KINDS), range=["circle", "triangle-down", "triangle-up", "diamond"])
    legend = alt.Legend(orient="top", title=None, values=kinds) if kinds != ["run"] else None
    dots = base.mark_point(size=60, filled=True, color=colour).encode(
        x=x,
        y=y,
        shape=alt.Shape("kind:N", scale=shapes, legend=legend),
        opacity=alt.OpacityValue(0.45, condition={"test": "datum.kind == 'run'", "value": 0.9}),
        tooltip=tooltip,
    )
    crossings = base.mark_rule(color=colour, opacity=0.35).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    levels = base.mark_line(strokeWidth=2, color=colour, opacity=0.6).encode(
        x=x, y=alt.Y("level:Q"), detail=alt.Detail("segment:N")
    )
    other, change = (base.transform_filter(f"datum.{name} != ''") for name in ("changed", "shown_change"))
    environment = other.mark_rule(strokeDash=[2, 3], color=theme.PAUSE_COLOUR, strokeWidth=1.5)
    changes = change.mark_rule(color=theme.LIMIT_COLOUR, strokeWidth=1.5)
    texts = change.mark_text(align="left", dx=5, color=theme.INK, fontSize=12)
    layers = (
        *(rule.encode(x=x, tooltip=tooltip) for rule in (environment, changes)),
        *(crossings, levels, dots),
        texts.encode(x=x, y=alt.YValue(8), text=alt.Text("shown_change:N")),
    )
    marks = {
        "line: level without dips": points["level"].notna().any(),
        "red: the level changes": (points["shown_change"] != "").any(),
        "dotted: version or set-up changes": (points["changed"] != "").any(),
    }
    texts = ["Dot: rate at the limit; faint line: its range", *(text for text, is_there in marks.items() if is_there)]
    return theme.titled(layers, f"{wording.plural(len(points), 'run')} in order of {order}", "; ".join(texts), _HEIGHT)
