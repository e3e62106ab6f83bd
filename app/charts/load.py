"""The parts of the leases per second that a site needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt

from dropline.app import words
from dropline.app.charts import theme

if TYPE_CHECKING:
    import pandas as pd

REQUIRED: Final = ("component", "lps", "formula")


def parts(table: pd.DataFrame, needed_lps: float) -> alt.LayerChart:
    """Draw one bar per component.

    Args:
        table: the columns of `REQUIRED`: what, leases per second, and how it is computed, in words.
        needed_lps: the total, with the allowance for HA and utilisation.
    """
    bars = table.loc[:, list(REQUIRED)].assign(shown=[words.number(each) for each in table["lps"]])
    base = alt.Chart(bars).encode(
        x=alt.X("lps:Q", title="Leases per second", axis=theme.RATE_AXIS),
        y=alt.Y("component:N", sort=None, title=None, axis=theme.ROW_AXIS),
        tooltip=[alt.Tooltip("formula:N", title="Computed as"), alt.Tooltip("shown:N", title="Leases/s")],
    )
    largest = bars.loc[bars["lps"].idxmax(), "component"]
    return theme.titled(
        alt.layer(
            base.mark_bar(color=theme.BACKEND_COLOURS["memfile"], size=16, cornerRadiusEnd=2),
            base.mark_text(align="left", dx=5, color=theme.INK).encode(text="shown:N"),
        ),
        f"{words.number(needed_lps)} leases per second are needed",
        f"Largest part: {largest}",
        alt.Step(theme.ROW_HEIGHT),
    )
