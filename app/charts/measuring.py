"""Chart of the trials of a running measurement, in order."""

import altair as alt
import pandas as pd

from dropline.app.charts import theme

_HEIGHT = 320  # pixels
_COLOURS = [theme.SERIES_COLOURS["received"], theme.LIMIT_COLOUR]
_PASSES, _EXCEEDS = "keeps the goal", "misses the goal"


def trials_in_order(trials: pd.DataFrame) -> alt.LayerChart:
    """Draw the rate of each trial; `trials` has configuration, repetition, rate, loss and is_exceeding."""
    columns = trials.loc[:, ["configuration", "repetition", "rate", "loss"]].assign(
        number=range(1, len(trials) + 1), verdict=trials["is_exceeding"].map({True: _EXCEEDS, False: _PASSES})
    )
    rates = alt.Scale(zero=False, nice=True)
    scale, legend = alt.Scale(domain=[_PASSES, _EXCEEDS], range=_COLOURS), alt.Legend(orient="bottom")
    points = alt.Chart(columns, mark=alt.MarkDef("point", filled=True, size=70)).encode(
        x=alt.X("number:Q", title="Trial", axis=alt.Axis(tickMinStep=1, format="d")),
        y=alt.Y("rate:Q", title="Offered rate (per second)", axis=theme.RATE_AXIS, scale=rates),
        color=alt.Color("verdict:N", title=None, scale=scale, legend=legend),
        shape=alt.Shape("configuration:N", title=None, legend=legend),
        tooltip=theme.tips(
            configuration="Configuration", repetition=("Run",), rate=("Offered rate", ",d"), loss=("Loss", ".2%")
        ),
    )
    detail = f"Offered rate of each of {len(columns)} trials, in order"
    return theme.titled((points,), "The search closes in on the limit", detail, _HEIGHT)
