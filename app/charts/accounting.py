"""Chart of where the requests of a trial went: answered, or lost at which point."""

from typing import Final

import altair as alt
import pandas as pd

from dropline.app.charts import theme

ANSWERED: Final = "answered"


def requests(parts: pd.DataFrame, what: str, finding: str, detail: str) -> alt.LayerChart:
    """Draw one bar per place where requests ended, answered and lost ones in different colours.

    `parts` has the columns place, requests, share_ratio (of those sent, 0..1) and shown, both as text; `what` they are:
    queries, requests.
    """
    base = alt.Chart(parts).encode(
        x=alt.X(
            "requests:Q",
            title=what.capitalize(),
            axis=theme.RATE_AXIS,
            # space for the figure beside the longest bar
            scale=alt.Scale(domain=[0, 1.6 * max(float(parts["requests"].max()), 1)]),
        ),
        y=alt.Y("place:N", sort=None, title=None, axis=theme.ROW_AXIS),
        tooltip=[
            alt.Tooltip("place:N", title="Where"),
            alt.Tooltip("requests:Q", title=what.capitalize(), format=",.0f"),
            alt.Tooltip("share_ratio:Q", title="Share of those sent", format=".2%"),
        ],
    )
    answered = {"test": f"datum.place === '{ANSWERED}'", "value": theme.SERIES_COLOURS["received"]}
    colour = alt.ColorValue(theme.SERIES_COLOURS["drops"], condition=answered)
    return theme.titled(
        (
            base.mark_bar(size=16, cornerRadiusEnd=2).encode(color=colour),
            base.mark_text(align="left", dx=5, color=theme.INK).encode(text=alt.Text("shown:N")),
        ),
        finding,
        detail,
        alt.Step(theme.ROW_HEIGHT),
    )
