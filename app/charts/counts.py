"""Bar chart of counts by kind."""

from typing import Final

import altair as alt
import pandas as pd

from dropline.app.charts import theme

_ROOM: Final = 1.15  # space beyond the longest bar, for its number


def by_kind(table: pd.DataFrame, finding: str, detail: str, unit: str) -> alt.LayerChart:
    """Draw one bar per kind, in the order of the table: each `kind` and its `count`, in `unit`."""
    axis = alt.Axis(format=",d", tickCount=7, tickMinStep=1, labelFlush=False)
    scale = alt.Scale(domainMin=0, domainMax=_ROOM * table["count"].max())
    base = alt.Chart(table).encode(
        x=alt.X("count:Q", title=unit, scale=scale, axis=axis),
        y=alt.Y("kind:N", sort=None, title=None, axis=theme.ROW_AXIS),
        tooltip=[alt.Tooltip("kind:N", title="Kind"), alt.Tooltip("count:Q", title=unit, format=",d")],
    )
    return theme.titled(
        (
            base.mark_bar(color=theme.NEUTRAL, size=16, cornerRadiusEnd=2),
            base.mark_text(align="left", dx=5, color=theme.INK).encode(text=alt.Text("count:Q", format=",d")),
        ),
        finding,
        detail,
        alt.Step(theme.ROW_HEIGHT),
    )
