"""Chart of a site's demand after an event against measured capacities."""

from typing import Final

import altair as alt
import pandas as pd

from dropline.app.charts import recovery, theme

STEPS: Final = ("t_s", "lps")
CAPACITIES: Final = ("label", "rate", "low", "high", "shown")
_HEIGHT: Final = 340  # pixels


def against_capacities(steps: pd.DataFrame, capacities: pd.DataFrame, finding: str, detail: str) -> alt.LayerChart:
    """Draw the need over the time after the event, and each capacity as a line across, with its range as a band.

    `steps` has the columns of `STEPS`: start in seconds, and leases per second needed from then on; the last row is the
    end. `capacities` has those of `CAPACITIES`: rates in leases per second, and the figure as text.
    """
    x = recovery.time_axis(steps)
    scale = alt.Scale(type="symlog", constant=10, nice=False, padding=12)
    axis = alt.Axis(labelExpr=theme.AMOUNTS, values=[0, 10, 100, 1000, 10_000, 100_000, 1_000_000], labelFlush=False)
    y = alt.Y("lps:Q", title="Leases per second", scale=scale, axis=axis)
    need = alt.Chart(steps.loc[:, list(STEPS)])
    known = alt.Chart(capacities.loc[:, list(CAPACITIES)].assign(top=capacities[["rate", "high"]].max(axis="columns")))
    green = theme.DISTINCT_COLOURS[2]
    tooltip = theme.tips(label="Configuration", shown="Leases/s")
    tips = theme.tips(t_s=("From second", ",.0f"), lps=("Leases/s needed", ",.4~f"))
    layers = [
        known.mark_rect(color=green, opacity=0.16).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), tooltip=tooltip),
        known.mark_rule(color=green, strokeWidth=1.5).encode(y=alt.Y("rate:Q"), tooltip=tooltip),
        known.mark_text(align="right", baseline="bottom", dy=-3, dx=-4, fontSize=11, color=theme.INK, limit=420).encode(
            x=alt.XValue("width"), y=alt.Y("top:Q"), text=alt.Text("label:N")
        ),
        need.mark_area(color=theme.LIMIT_COLOUR, opacity=0.18, interpolate="step-after").encode(x=x, y=y),
        need.mark_line(color=theme.LIMIT_COLOUR, strokeWidth=2.2, interpolate="step-after").encode(
            x=x, y=y, tooltip=tips
        ),
    ]
    return theme.titled(layers, finding, detail, _HEIGHT)
