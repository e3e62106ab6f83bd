"""Charts of the capacity by set-up and of the effect of a factor."""

import json
from collections.abc import Mapping
from typing import Any, Final

import altair as alt
import numpy as np
import pandas as pd

from dropline.app import wording
from dropline.app.charts import theme

REQUIRED: Final = (
    *("configuration_id", "row", "label", "backend", "origin", "rate", "ci_low", "ci_high", "interval_kind", "shown"),
    *("interval", "runs", "quality"),
)
PICKED: Final = "picked"  # the set-up that was clicked
PAIRS: Final = ("row", "ratio", "ci_low", "ci_high", "shown", "verdict", "origin")
VERDICT_COLOURS: Final = {
    **dict.fromkeys(("faster", "probably faster"), "#2488d0"),
    **dict.fromkeys(("slower", "probably slower"), "#dd6517"),
}
_BAR: Final = 13  # pixels
_AXIS: Final = alt.Axis(labelExpr=theme.AMOUNTS, tickCount=alt.ExprRef("containerSize()[0] < 500 ? 2 : 4"), grid=False)
_TICKS: Final = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
_FINE_TICKS: Final = [0.5, 0.65, 0.8, 1, 1.25, 1.5, 2, 2.5, 3, 4]  # for ratios near 1 on a wide screen
_TEXT: Final = {"align": "left", "dx": 7, "fontSize": 12}


def capacities(
    rows: pd.DataFrame,
    unit: str,
    finding: str,
    detail: str,
    singles: pd.DataFrame | None = None,
    colours: Mapping[str, str] | None = None,
) -> alt.LayerChart:
    """Draw each set-up's capacity as a bar to the last passing step, with the range of the rate at the limit.

    `rows` has the columns of `REQUIRED`, one set-up per row, in order; rates in `unit`. `singles` are single runs, with
    row, rate and run (as text); `colours` are those of the rows, else those of their backends.
    """
    rows = rows.loc[:, list(REQUIRED)]
    rows = rows.assign(
        backend=rows["backend"].astype(object).where(rows["backend"].notna(), ""),
        start=0.0,
        end=rows[["rate", "ci_high"]].max(axis="columns"),
        runs=rows["runs"].map(wording.count),
    )
    if singles is not None:
        rows["end"] = np.fmax(rows["end"], rows["row"].map(singles.groupby("row")["rate"].max()))
    y = alt.Y("row:N", sort=list(dict.fromkeys(rows["row"])), title=None, axis=theme.ROW_AXIS)
    # Leave room for each label after its last mark, by its length; phones need more.
    longest = rows["shown"].str.len().max()
    on_phones, wide = max(1.75, 1 + 0.08 * longest), max(1.3, 1 + 0.03 * longest)
    end = alt.ExprRef(f"{rows['end'].max()} * (containerSize()[0] < 500 ? {on_phones:.2f} : {wide:.2f})")
    x = alt.X("start:Q", title=unit, axis=_AXIS, scale=alt.Scale(domainMin=0, domainMax=end, nice=False))
    colour = alt.Color("backend:N", scale=theme.backend_scale(rows["backend"]), legend=None)
    if colours:
        colour = alt.Color("row:N", scale=alt.Scale(domain=list(colours), range=list(colours.values())), legend=None)
    tooltip = theme.tips(label="Set-up", shown=unit, interval="Limit", runs="Runs", quality="Quality", origin="Figure")
    shared: dict[str, Any] = {"y": y, "color": colour, "tooltip": tooltip}
    own, published = ({"origin": origin} for origin in theme.ORIGINS)
    bracket, estimate = (own | {"interval_kind": kind} for kind in ("bracket", "confidence"))
    low, high = {"x": alt.X("ci_low:Q")}, {"x": alt.X("ci_high:Q")}
    between = low | {"x2": alt.X2("ci_high:Q")}
    ink = {"color": theme.INK, "opacity": 0.75}
    inked = shared | {"color": alt.ColorValue(theme.INK)}
    bar = alt.MarkDef("bar", height=_BAR, cursor="pointer" if singles is None else "default")
    tick = alt.MarkDef("tick", thickness=1.5, size=9, **ink)
    diamond = alt.MarkDef("point", shape="diamond", size=90, strokeWidth=2, fill=None)
    words = {"y": y, "x": alt.X("end:Q"), "text": alt.Text("shown:N"), "color": alt.ColorValue(theme.INK)}
    layers = [
        _marks(rows, own, bar, shared | {"x": x, "x2": alt.X2("rate:Q")}),
        _marks(rows, bracket, alt.MarkDef("bar", height=_BAR, opacity=0.3), shared | between),
        _marks(rows, estimate, alt.MarkDef("rule", strokeWidth=1.5, **ink), inked | between),
        _marks(rows, estimate, tick, inked | low),
        _marks(rows, estimate, tick, inked | high),
        _marks(rows, published, diamond, shared | {"x": alt.X("rate:Q")}),
        _marks(rows, {}, alt.MarkDef("text", **_TEXT), words),
    ]
    if singles is not None:
        ticks = alt.Chart(singles[["row", "rate", "run"]]).mark_tick(size=_BAR, color=theme.INK, opacity=0.5)
        layers.append(ticks.encode(x=alt.X("rate:Q"), y=y, tooltip=theme.tips(run="Run", rate=(unit, ",.0f"))))
    layers[0] = layers[0] or alt.Chart(rows, mark=alt.MarkDef("point", opacity=0)).encode(x=x, y=y)
    layers[0] = layers[0].add_params(alt.selection_point(PICKED, fields=["configuration_id"]))
    return theme.titled(filter(None, layers), finding, detail, alt.Step(theme.ROW_HEIGHT))


def described(rows: pd.DataFrame) -> str:
    """Return the meaning of those marks of `capacities` that the rows use."""
    own = rows[rows["origin"] == "measured"]
    kinds = set(own.dropna(subset=["ci_low", "ci_high"])["interval_kind"])
    marks = {
        "bar: the last step that passed": (own["rate"].notna() & (own["loss_goal"] != "throughput")).any(),
        "bar: the throughput": (own["loss_goal"] == "throughput").any(),
        "line: 95 % interval": "confidence" in kinds,
        "light: bracket": "bracket" in kinds,
        "diamond: published": len(own) < len(rows),
    }
    return "; ".join(mark for mark, is_there in marks.items() if is_there).capitalize()


def fastest(rows: pd.DataFrame, unit: str) -> str:
    """Return a sentence on the fastest set-up, if it is known, with its figure `shown`; rates in `unit`."""
    own = rows[rows["origin"] == "measured"]
    of = own if len(own) else rows
    # with an upper bound, the actual value may be far lower
    reached = of[~of["shown"].str.startswith(("<", "≤"))]
    first = of.loc[(reached if len(reached) else of)["rate"].idxmax()]
    if len(of) == 1:
        return f"{first['row']}: {first['shown']} {unit}"
    if not len(reached):
        return f"No set-up is known to reach {wording.number(of['rate'].min())} {unit}"
    if first["rate"] < of["rate"].max() or of["sign"].drop(first.name).isin(wording.UP).any():
        return f"Highest known: {first['shown']} {unit}, {first['row']}"
    return f"Fastest {'measured' if len(own) else 'published'}: {first['shown']} {unit}, {first['row']}"


def _marks(rows: pd.DataFrame, of: Mapping[str, Any], mark: alt.MarkDef, channels: dict[str, Any]) -> Any:
    """Return a layer with the rows that have these values and known ends; None if there are none.

    All layers share one frame: writing one for each would take as long as everything else.
    """
    ends = [channels[name].shorthand.partition(":")[0] for name in ("x", "x2") if name in channels]
    columns = zip(*(rows[name] for name in (*of, *ends)), strict=True)
    if not any(row[: len(of)] == tuple(of.values()) and not any(map(pd.isna, row[len(of) :])) for row in columns):
        return None
    tests = [f"datum.{name} === {json.dumps(value)}" for name, value in of.items()]
    tests += map("isValid(datum.{})".format, ends)
    return alt.Chart(rows, mark=mark, transform=[alt.FilterTransform(" && ".join(tests))]).encode(**channels)


def ratios(pairs: pd.DataFrame, finding: str, detail: str) -> alt.LayerChart:
    """Draw the ratio of each pair around 1, with its interval; `pairs` has the columns of `PAIRS`."""
    pairs = pairs.loc[:, list(PAIRS)]
    pairs = pairs.assign(
        colour=pairs["verdict"].map(VERDICT_COLOURS).fillna(theme.NEUTRAL),
        end=pairs[["ratio", "ci_high"]].max(axis="columns").clip(lower=1),  # the label is right of the line at 1
    )
    first, last = min(pairs[["ratio", "ci_low"]].min().min(), 1) / 1.15, max(pairs["end"].max(), 1)
    wide, narrow = ((last / first) ** share for share in (0.7, 2.2))
    end = alt.ExprRef(f"{last} * (containerSize()[0] < 500 ? {max(narrow, 5)} : {max(wide, 1.7)})")
    scale = alt.Scale(type="log", nice=False, domainMin=first, domainMax=end)
    ticks = alt.ExprRef(f"containerSize()[0] < 500 || {last / first} > 4 ? {_TICKS} : {_FINE_TICKS}")
    y = alt.Y("row:N", sort=list(dict.fromkeys(pairs["row"])), title=None, axis=theme.ROW_AXIS)
    x = alt.X("ratio:Q", title="times", scale=scale, axis=alt.Axis(format="~g", values=ticks, grid=False))
    shared: dict[str, Any] = {
        "y": y,
        "color": alt.Color("colour:N", scale=None),
        "tooltip": theme.tips(row="Set-up", shown="Ratio"),
    }
    one = alt.Chart({"values": [{"one": 1}]}).mark_rule(color=theme.NEUTRAL, strokeDash=[4, 3]).encode(x=alt.X("one:Q"))
    bar, between = (
        alt.MarkDef("bar", height=_BAR - 4, opacity=0.35),
        {"x": alt.X("ci_low:Q"), "x2": alt.X2("ci_high:Q")},
    )
    bars = _marks(pairs, {}, bar, shared | between)
    base = alt.Chart(pairs)
    dots = base.mark_point(size=80, strokeWidth=2).encode(
        x=x, fill=alt.Fill("colour:N", scale=None), fillOpacity=theme.FILLED_IF_MEASURED, **shared
    )
    words = alt.ExprRef("containerSize()[0] < 500 ? split(datum.shown, ', ') : datum.shown")  # in two lines on phones
    texts = base.mark_text(**_TEXT, text=words, lineHeight=11, color=theme.INK).encode(y=y, x=alt.X("end:Q"))
    return theme.titled(filter(None, (one, bars, dots, texts)), finding, detail, alt.Step(theme.ROW_HEIGHT))
