"""Bar chart of counts by kind."""

from collections.abc import Sequence
from typing import Final

import altair as alt
import pandas as pd

from dropline.app.charts import theme

_ROOM: Final = 1.15  # space beyond the longest bar, for its number
_ROOM_WITH_SHARE: Final = 1.6


def by_kind(
    table: pd.DataFrame, finding: str, detail: str, unit: str, colours: Sequence[str] = (theme.NEUTRAL,)
) -> alt.LayerChart:
    """Draw one bar per row, in the order of the table: its `kind` and its `count`, in `unit`.

    If there is a column share_ratio (of those sent, 0..1), `shown` is the bar's label. `colours` are used in turn.
    """
    axis = alt.Axis(format=",d", tickCount=7, tickMinStep=1, labelFlush=False)
    tooltip = theme.tips(kind="Kind", count=(unit, ",d"))
    text, room = alt.Text("count:Q", format=",d"), _ROOM
    if "share_ratio" in table:
        tooltip += theme.tips(share_ratio=("Share of those sent", ".2%"))
        text, room = alt.Text("shown:N"), _ROOM_WITH_SHARE
    scale = alt.Scale(domainMin=0, domainMax=room * max(table["count"].max(), 1))
    base = alt.Chart(table).encode(
        x=alt.X("count:Q", title=unit, scale=scale, axis=axis),
        y=alt.Y("kind:N", sort=None, title=None, axis=theme.ROW_AXIS),
        tooltip=tooltip,
    )
    colour = alt.Color("kind:N", scale=alt.Scale(domain=list(table["kind"]), range=colours), legend=None)
    bars = base.mark_bar(size=16, cornerRadiusEnd=2).encode(color=colour)
    texts = base.mark_text(align="left", dx=5, color=theme.INK).encode(text=text)
    return theme.titled((bars, texts), finding, detail, alt.Step(theme.ROW_HEIGHT))
