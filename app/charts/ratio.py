"""Chart of the rate over thread counts, with the fitted scaling law."""

from typing import Final

import altair as alt
import pandas as pd

from dropline.app.charts import theme

POINTS: Final = ("threads", "rate", "fitted_rate", "is_above_cores", "rated_runs")


def thread_scaling(points: pd.DataFrame, backend: str | None, unit: str, finding: str) -> alt.LayerChart:
    """Draw the rate in `unit` over the threads, with the fitted law if there is one; columns as in `POINTS`."""
    points = points.loc[:, list(POINTS)]
    colour = theme.backend_colour(backend)
    axis = alt.Axis(format="d", tickCount=8, tickMinStep=1)
    x = alt.X("threads:Q", title="Threads", axis=axis, scale=alt.Scale(zero=True))
    base = alt.Chart(points)
    dots = base.mark_point(size=90, filled=True, color=colour).encode(
        x=x,
        y=alt.Y("rate:Q", title=f"Capacity ({unit})", axis=theme.value_axis()),
        shape=alt.ShapeValue("circle", condition={"test": "datum.is_above_cores", "value": "triangle-up"}),
        tooltip=[
            *theme.tips(threads=("Threads",), rate=(f"Capacity ({unit})", ",.0f")),
            *theme.tips(fitted_rate=("Fitted", ",.0f"), rated_runs=("Runs (n)",)),
        ],
    )
    law = base.transform_filter("isValid(datum.fitted_rate)").mark_line(color=colour, opacity=0.6)
    detail = f"{len(points)} thread counts; line: fitted (Universal Scalability Law); triangle: more than cores"
    return theme.titled((law.encode(x=x, y=alt.Y("fitted_rate:Q")), dots), finding, detail, 320)
