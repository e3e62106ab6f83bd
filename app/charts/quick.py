"""Chart of any two columns of a result, chosen by the visitor."""

from typing import Final

import altair as alt
import pandas as pd

from dropline.app import wording
from dropline.app.charts import theme

REQUIRED: Final = ("x", "y")
MOST_POINTS: Final = 5000
_HEIGHT: Final = 380  # pixels
_MOST_ROWS: Final = 40  # with text labels


def points(table: pd.DataFrame, x: str, y: str, colour: str | None = None) -> alt.LayerChart:
    """Draw a point per row that has both values, at most `MOST_POINTS`; `x`, `y` and `colour` are column names.

    Names may contain any characters; column `y` holds numbers; a column named backend gets the backends' usual colours.
    """
    complete = table.dropna(subset=list(REQUIRED))
    drawn = complete.head(MOST_POINTS)
    numbers = drawn["x"].dtype.kind in "iufM"
    kind = ("temporal" if drawn["x"].dtype.kind == "M" else "quantitative") if numbers else "nominal"
    chart = alt.Chart(drawn).mark_point(filled=True, size=45, opacity=0.75, color=theme.BACKEND_COLOURS["memfile"])
    tooltip = [alt.Tooltip("x", type=kind, title=x), alt.Tooltip("y:Q", title=y)]
    if numbers:
        chart = chart.encode(x=alt.X("x", type=kind, title=x), y=alt.Y("y:Q", title=y), tooltip=tooltip)
    else:  # texts go on the vertical axis, which has space for them; the chart's title names it
        labels = alt.Y("x", type=kind, title=None, sort=None, axis=theme.ROW_AXIS)
        chart = chart.encode(x=alt.X("y:Q", title=y), y=labels, tooltip=tooltip)
    if colour:
        shade = _colour(drawn["colour"], colour)
        chart = chart.encode(color=shade, tooltip=[*tooltip, alt.Tooltip("colour", type=shade["type"])])
    few = not numbers and drawn["x"].nunique() <= _MOST_ROWS
    finding = f"{y} over {x}: n = {len(drawn):,}"
    return theme.titled([chart], finding, _left_out(table, complete, drawn), alt.Step(22) if few else _HEIGHT)


def _colour(values: pd.Series, name: str) -> alt.Color:
    if values.dtype.kind in "iuf":
        return alt.Color("colour", type="quantitative", title=name, scale=alt.Scale(scheme="viridis"))
    scale = theme.backend_scale(values.fillna("")) if name == "backend" else alt.Scale(range=list(theme.SERIES))
    return alt.Color("colour", type="nominal", title=name, scale=scale, legend=alt.Legend(orient="top", columns=4))


def _left_out(table: pd.DataFrame, complete: pd.DataFrame, drawn: pd.DataFrame) -> str:
    notes = []
    if len(complete) > len(drawn):
        notes.append(f"the first {len(drawn):,} of {len(complete):,} rows")
    if len(table) > len(complete):
        notes.append(f"{wording.plural(len(table) - len(complete), 'row')} without a value left out")
    return "One point per row of the result" + "".join(f"; {each}" for each in notes)
