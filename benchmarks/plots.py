"""The benchmarks' plot, a row per kind of work and a dot per series on a log scale, their tables, and where both go."""

from __future__ import annotations

import os
import statistics
import timeit
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

RESULTS: Final = Path(__file__).parent / "results"
# Of Okabe and Ito: safe for colour-blind readers.
COLOURS: Final = ("#0072b2", "#009e73", "#d55e00", "#e69f00", "#cc79a7", "#56b4e9", "#000000")


def dots(rows: Mapping[str, Mapping[str, float]], colours: Mapping[str, str], unit: str, powers: range) -> str:
    """Return an SVG: a dot for each value of each row, in the colour of its series, from the first power to the last.

    A value below the first power is drawn at it.
    """
    import altair as alt  # here, because the environment of Otava has no plots
    import pandas as pd
    import vl_convert

    values = pd.DataFrame(rows).rename_axis("series").reset_index().melt("series", var_name="what").dropna()
    scale = alt.Scale(type="log", domain=[10.0 ** powers[0], 10.0 ** powers[-1]], clamp=True)
    series = alt.Scale(domain=list(colours), range=list(colours.values()))
    chart = alt.Chart(values, width=440, height=alt.Step(24)).mark_point(filled=True, size=80, opacity=1)
    drawn = chart.encode(
        x=alt.X("value:Q", title=unit, scale=scale, axis=alt.Axis(tickCount=len(powers), format="~g")),
        y=alt.Y("what:N", sort=None, title=None, axis=alt.Axis(labelLimit=400)),
        color=alt.Color("series:N", scale=series, legend=alt.Legend(orient="top", title=None)),
    )
    return f"{vl_convert.vegalite_to_svg(drawn.to_dict())}\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], words: int = 1) -> str:
    """Return a table in Markdown, with figures in all columns but the first, or so many `words`."""
    lines = [heads, [*["---"] * words, *["---:"] * (len(heads) - words)], *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


def publish(name: str, text: str, drawn: str = "") -> None:
    """Print a result, and write it with its plot to benchmarks/results."""
    (RESULTS / f"{name}.md").write_text(text, "utf-8")
    if drawn:
        (RESULTS / f"{name}.svg").write_text(drawn, "utf-8")
    print(text, end="")


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def machine() -> str:
    """Return the size, the present load and the present speed of this machine: rented ones vary by a half in a day."""
    load = os.getloadavg()[0]
    seconds = min(timeit.repeat(partial(sum, range(10**6)), number=10, repeat=5))
    return f"{os.cpu_count()} CPUs at a load of {load:.1f}, adding ten million integers in {seconds:.2f} s"
