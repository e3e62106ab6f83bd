"""Chart of capacities with their intervals and single runs."""

from collections.abc import Mapping
from typing import Any, Final

import altair as alt
import pandas as pd

from dropline.app import wording
from dropline.app.charts import theme

REQUIRED: Final = (
    "row",
    "name",
    "label",
    "backend",
    "origin",
    "rate",
    "ci_low",
    "ci_high",
    "interval_kind",
    "shown",
    "interval",
    "about",
    "runs",
    "quality",
)
_OPEN: Final = 1.06  # how far ranges without an upper end extend beyond the highest value


def capacities(
    table: pd.DataFrame, unit: str, singles: pd.DataFrame | None = None, colours: Mapping[str, str] | None = None
) -> alt.LayerChart:
    """Draw a dot per `row` with its figure `shown` (with its bound) and its range `interval`; rates in `unit`.

    `table` has the columns of `REQUIRED`, `singles` the single runs with row, label, backend, rate and run (as text).
    `colours` are those of the labels, as from `theme.told_apart`; else those of the table.
    """
    table = theme.with_backends(table.loc[:, list(REQUIRED)].dropna(subset=["rate"]))
    table = table.assign(
        best=[wording.rate(each, "≈") for each in table["about"]],
        counted=[f"{each:.0f}" if wording.is_known(each) else wording.NOT_STATED for each in table["runs"]],
    )
    rows = list(dict.fromkeys(table["row"]))
    colour = theme.label_colours(table, colours=colours)
    y = alt.Y("row:N", sort=rows, title=None, axis=theme.ROW_AXIS)
    axis = alt.X("rate:Q", title=f"Capacity ({unit})", scale=alt.Scale(zero=True), axis=theme.RATE_AXIS)
    base = alt.Chart(table).encode(y=y, color=colour)
    layers: list[Any] = []
    tooltip = [
        alt.Tooltip("label:N", title="Configuration"),
        alt.Tooltip("shown:N", title=unit),
        alt.Tooltip("interval:N", title="Rate at the limit"),
        alt.Tooltip("best:N", title="Best single figure"),
        alt.Tooltip("counted:N", title="Runs (n)"),
        alt.Tooltip("quality:N", title="Quality"),
    ]
    layers += _ranges(table, {"y": y, "color": colour, "tooltip": tooltip})
    if singles is not None and len(singles):
        layers.append(
            alt.Chart(theme.with_backends(singles)[["row", "backend", "label", "rate", "run"]])
            .mark_tick(thickness=1.5, size=14, opacity=0.7)
            .encode(
                x=alt.X("rate:Q"),
                y=y,
                color=colour,
                tooltip=[alt.Tooltip("run:N"), alt.Tooltip("rate:Q", format=",.0f")],
            )
        )
    layers.append(
        base.mark_point(size=110, strokeWidth=2, opacity=1).encode(
            x=axis,
            shape=alt.Shape(
                "origin:N",
                scale=alt.Scale(domain=list(theme.ORIGINS), range=["circle", "diamond"]),
                title="Figure",
                legend=None,  # the subtitle explains it
            ),
            fillOpacity=theme.FILLED_IF_MEASURED,
            fill=colour,
            tooltip=tooltip,
        )
    )
    layers.append(
        base.mark_text(align="left", dx=10, dy=-13, fontSize=11).encode(
            x=alt.X("rate:Q"), text=alt.Text("shown:N"), color=alt.ColorValue(theme.INK)
        )
    )
    finding, detail = _finding(table, unit)
    return theme.titled(layers, finding, detail, alt.Step(theme.ROW_HEIGHT))


def _ranges(table: pd.DataFrame, shared: dict[str, Any]) -> list[Any]:
    """Return the layers of the ranges: intervals as lines, brackets as light bars, open ends as arrows."""
    known = table.dropna(subset=["ci_low"])
    far = _OPEN * table[["rate", "ci_high"]].max().max()
    known = known.assign(range_high=known["ci_high"].fillna(far))
    estimated = known["interval_kind"] == "confidence"
    is_open = known["ci_high"].isna()
    drawn = [
        (known[estimated], alt.MarkDef("rule", strokeWidth=2.5, opacity=0.9), ["ci_low:Q", "range_high:Q"]),
        (known[~estimated], alt.MarkDef("bar", height=9, opacity=0.4), ["ci_low:Q", "range_high:Q"]),
        (known, alt.MarkDef("tick", thickness=2.5, size=13, opacity=0.9), ["ci_low:Q"]),
        (known[~is_open], alt.MarkDef("tick", thickness=2.5, size=13, opacity=0.9), ["range_high:Q"]),
        (known[is_open], alt.MarkDef("point", shape="triangle-right", size=90, filled=True), ["range_high:Q"]),
    ]
    return [
        alt.Chart(rows, mark=mark).encode(*(of(end) for of, end in zip((alt.X, alt.X2), ends, strict=False)), **shared)
        for rows, mark, ends in drawn
        if len(rows)
    ]


def _finding(table: pd.DataFrame, unit: str) -> tuple[str, str]:
    if table.empty:
        return "No capacity to draw", "Nothing is selected, or no step has a loss ratio"
    own = table[table["origin"] == "measured"]
    several = "Filled: measured, hollow: published figure" if 0 < len(own) < len(table) else "Dot: the figure"
    table = own if len(own) else table
    # upper bounds may hide any value
    reached = table[~table["shown"].str.startswith(("<", "≤"))]
    first = table.loc[(reached if len(reached) else table)["rate"].idxmax()]
    drawn = f"{_runs(table)}{several}{_told(table)}"
    if len(table) == 1:
        return f"{first['name']}: {first['shown']} {unit}", drawn
    fastest = "Fastest measured" if len(own) else "Fastest published"
    return f"{fastest}: {first['shown']} {unit}, {first['name']}", drawn


def _told(table: pd.DataFrame) -> str:
    """Return the meaning of the range marks in use."""
    known = table.dropna(subset=["ci_low"])
    kinds = set(known["interval_kind"])
    marks = {
        "line: 95 % interval of the rate at the limit": "confidence" in kinds,
        "light bar: the bracket, the two steps around it": "bracket" in kinds,
        "arrow: a ramp ended below it": bool(known["ci_high"].isna().any()),
    }
    return "".join(f"; {mark}" for mark, is_there in marks.items() if is_there)


def _runs(table: pd.DataFrame) -> str:
    """Return the number of runs per figure, if known."""
    runs = table["runs"].dropna()
    if runs.empty:
        return ""
    return f"n = {wording.span(runs.min(), runs.max())} run{'s' * bool(runs.max() != 1)} each. "
