"""Tornado chart: the effect of each input on the leases per second needed."""

from typing import Final

import altair as alt
import pandas as pd

from dropline.app import wording
from dropline.app.charts import theme

REQUIRED: Final = ("input", "end", "value", "lps")
ENDS: Final = {"smaller": theme.SPARE_COLOURS[4], "larger": theme.BACKEND_COLOURS["memfile"]}


def tornado(table: pd.DataFrame, needed_lps: float, swing: float) -> alt.LayerChart:
    """Draw two bars per input, from `needed_lps` to the need with this input varied by the share `swing`.

    `table` has the columns of `REQUIRED`: the input with its unit, `smaller` or `larger`, the varied value, and the
    leases per second needed with it; two rows per input, the strongest input first.
    """
    bars = table.loc[:, list(REQUIRED)].assign(needed=needed_lps, shown=[wording.number(each) for each in table["lps"]])
    strongest = bars[bars["input"] == bars["input"].iloc[0]].set_index("end")
    before, after = strongest.loc["smaller"], strongest.loc["larger"]
    legend = alt.Legend(orient="top", symbolType="square")
    scale = alt.Scale(domain=list(ENDS), range=list(ENDS.values()))
    drawn = alt.Chart(bars, mark=alt.MarkDef("bar", size=16)).encode(
        x=alt.X("needed:Q", title="Leases per second needed", axis=theme.RATE_AXIS, scale=alt.Scale(zero=False)),
        x2=alt.X2("lps:Q"),
        y=alt.Y("input:N", sort=None, title=None, axis=theme.ROW_AXIS),
        color=alt.Color("end:N", scale=scale, title="Input", legend=legend),
        tooltip=theme.tips(input="Input", value=("at", ",.4~f"), shown="Leases/s needed"),
    )
    rule = alt.Chart(bars.head(1)).mark_rule(color=theme.NEUTRAL).encode(x=alt.X("needed:Q"))
    return theme.titled(
        (drawn, rule),
        f"{bars['input'].iloc[0]} matters most: {before['shown']} to {after['shown']} leases/s",
        f"From {wording.number(before['value'])} to {wording.number(after['value'])}. "
        f"Each input alone {100 * swing:g} % smaller or larger, within its limits; minor inputs are left out",
        alt.Step(theme.ROW_HEIGHT),
    )
