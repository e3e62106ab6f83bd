"""How time and memory grow with the trials: ingest, build, one campaign more, questions, pages; each in its process.

    python -m benchmarks.growth                                      1,000, 10,000 and 100,000 trials
    python -m benchmarks.growth --trials 1000 10000 100000 1000000   with 12 GB of disk, meanwhile

The slope of log cost over log trials is 1 for a cost that grows as the trials do, 0 for one that does not grow. The
results go to benchmarks/results/growth.md and .svg.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import altair as alt
import duckdb
import numpy as np
import pandas as pd
import vl_convert

from benchmarks import queries, soak
from benchmarks.campaigns import CYCLE, INTERIMS, SEED, WEEKS, Campaign, measure
from benchmarks.plots import COLOURS, machine, publish, table
from benchmarks.processes import Cost, cost_of, cpu_s, dropline
from benchmarks.trees import render, write
from dropline.app.warehouse import Warehouse
from dropline.ingest.lake import Lake

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

TRIALS: Final = (1_000, 10_000, 100_000)
FAR: Final = 100_000_000
ADDED_TRIALS: Final = 100  # of one campaign, one file each
ADDED_TESTBED: Final = 99  # a machine without campaigns in any lake
TIMES: Final = 3  # of each question
PHASES: Final = ("checksums", "lake gate", "models", "marts gate", "publish")  # as `dropline build` prints them
MEMORY: Final = "1200MB"  # of DuckDB, as in profiles.yml
MEASURES: Final = {"s": "seconds", "CPU s": "cpu_s", "peak MB": "memory_mb"}
FLOOR: Final = """
    create table seconds as
    select
        *,
        t_s - coalesce(lag(t_s) over (partition by trial_id, exchange order by position), 0) as seconds
    from read_parquet($intervals);

    create table ramps as
    select
        campaign,
        context_path,
        repetition,
        max(offered_rate) filter (where dropped <= 0.025 * sent) as last_passing_rate,
        min(offered_rate) filter (where dropped > 0.025 * sent) as first_exceeding_rate
    from read_parquet($trials)
    group by campaign, context_path, repetition;
"""

Figures = dict[tuple[str, str], float]  # by step and unit


def main() -> None:
    """Measure, print the table, and write it to benchmarks/results/growth.md, with a plot beside it."""
    read = argparse.ArgumentParser(prog="python -m benchmarks.growth", description="Measure every size.")
    read.add_argument("--trials", type=int, nargs="+", default=TRIALS, help="sizes, rising")
    read.add_argument("--interims", type=int, default=INTERIMS, help="interim lines a trial")
    read.add_argument(
        "--folder", type=Path, help="where the homes are kept: FOLDER/TRIALS/home; by default they are removed"
    )
    given = read.parse_args()
    if len(given.trials) < 2:
        read.error("--trials: expected two sizes or more")
    found: dict[int, Figures] = {}
    with tempfile.TemporaryDirectory() as name:
        for trials in given.trials:
            folder = (given.folder or Path(name)) / f"{trials}"
            folder.mkdir(parents=True)
            found[trials] = dict(_flat(measured(folder, trials, given.interims)))
            print(f"{trials:,} trials: {found[trials]}", file=sys.stderr)
    publish("growth", _report(found), plot(found))


def measured(folder: Path, trials: int, interims: int) -> Iterator[tuple[str, Cost | dict[str, float]]]:
    """Yield each step's name with its cost, or with other figures by unit, for one size."""
    tree, home, added = folder / "tree", folder / "home", folder / "added"
    render(tree, trials, interims=interims)
    yield "ingest", dropline(home, "ingest", str(tree))
    shutil.rmtree(tree)
    yield "floor of a build: DuckDB alone", cost_of(floor, home / "lake", folder)
    yield "build", (whole := dropline(home, "build"))
    for phase in PHASES:
        took = re.search(rf"\b{phase} ([\d.]+) s", whole.said)
        yield f"build: {phase}", {"s": float(took[1]) if took else math.nan}
    yield "all questions of the dashboard", cost_of(ask, home)
    yield "all pages of the dashboard", asyncio.run(pages(home, folder / "server.log"))
    yield "the lake", {"MB": _size_mb(home / "lake"), "log entries": len(list((home / "lake/log").glob("*.json")))}
    yield "the warehouse", {"MB": _size_mb(home / "warehouse.duckdb")}
    campaign = Campaign(ADDED_TESTBED * WEEKS, SEED, CYCLE[0], ADDED_TRIALS, INTERIMS)
    write(added / campaign.name, campaign, measure(campaign))
    steps = dropline(home, "ingest", str(added)), dropline(home, "build")
    seconds, cpu, memory_mb, _ = zip(*steps, strict=True)
    yield f"one campaign of {ADDED_TRIALS} files more: ingest, build", Cost(sum(seconds), sum(cpu), max(memory_mb))


def floor(lake: Path, folder: Path) -> None:
    """Do the work that no build can avoid, windows and crossings, with DuckDB alone."""
    with duckdb.connect(str(folder / "floor.duckdb"), config={"memory_limit": MEMORY}) as connection:
        text = FLOOR
        for name in ("intervals", "trials"):
            files = ", ".join(f"'{file}'" for file in Lake(lake).files(name))
            text = text.replace(f"${name}", f"[{files}], union_by_name = true")
        connection.execute(text)


def ask(home: Path) -> None:
    """Ask every question of the dashboard `TIMES` times, with other values each."""
    warehouse = Warehouse.open(home / "warehouse.duckdb")
    subjects = list(queries.drawn(warehouse, TIMES))
    for sql in queries.questions().values():
        queries.timed(sql, warehouse, subjects)


async def pages(home: Path, log: Path) -> Cost:
    """Open every page of the dashboard twice; return the cost of the second time, with the server's peak memory."""
    with soak.served(home, log) as (port, server):
        async with soak.visiting(port) as visitor:
            for _ in range(2):
                began, cpu_began_s = time.perf_counter(), cpu_s(server)
                for page, query in soak.PAGES:
                    if troubles := soak.exceptions(await visitor.open(page, query)):
                        raise RuntimeError(troubles[0])
                seconds, spent_s = time.perf_counter() - began, cpu_s(server) - cpu_began_s
        (peak_kb,) = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{server}/status").read_text("utf-8"))
    return Cost(seconds, spent_s, int(peak_kb) * 1024 / 1e6)


def _size_mb(path: Path) -> float:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def _flat(steps: Iterator[tuple[str, Cost | dict[str, float]]]) -> Iterator[tuple[tuple[str, str], float]]:
    for name, cost in steps:
        found = {unit: getattr(cost, of) for unit, of in MEASURES.items()} if isinstance(cost, Cost) else cost
        yield from (((name, unit), float(value)) for unit, value in found.items())


def slope(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """Return the slope of the straight line through the logarithms, by least squares; NaN where something is zero."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0]) if min(costs) > 0 else math.nan


def far(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """Return the cost at `FAR` trials on the straight line through the last two sizes, if it rises."""
    each = (costs[-1] - costs[-2]) / (sizes[-1] - sizes[-2])
    return costs[-1] + max(each, 0) * (FAR - sizes[-1])


def _report(found: Mapping[int, Figures]) -> str:
    sizes = list(found)
    rows = []
    for step, unit in found[sizes[-1]]:
        costs = [found[size][step, unit] for size in sizes]
        slopes = [slope(sizes, costs), slope(sizes[-2:], costs[-2:])]
        cells = ["" if math.isnan(each) else f"{each:.2f}" for each in slopes]
        rows.append([step, unit, *map(_rounded, costs), *cells, _rounded(far(sizes, costs))])
    heads = [*(f"{size:,}" for size in sizes), "slope", f"slope from {sizes[-2]:,}", f"at {FAR:,}, on a line"]
    return (
        f"Trials from {sizes[0]:,} to {sizes[-1]:,}; {machine()}. Each step is a process of its own; its peak memory "
        "is that of its largest process, of the floor and the questions without imports. Every question is asked "
        f"{1 + TIMES} times, every page opened for the second time. The slope is that of the logarithms: 1 where a "
        "cost grows as the trials do. The last column is on the straight line through the last two sizes.\n\n"
        f"{table(['step', 'unit', *heads], rows, words=2)}\n"
    )


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def plot(found: Mapping[int, Figures]) -> str:
    """Return an SVG: CPU seconds and peak memory over trials, a line for each step, both on log scales."""
    rows = [
        {"trials": size, "step": step.partition(":")[0], "unit": unit, "value": value}
        for size, figures in found.items()
        for (step, unit), value in figures.items()
        if unit in MEASURES and value > 0 and not step.startswith("build:")
    ]
    values = pd.DataFrame(rows)
    steps = list(dict.fromkeys(values["step"]))
    trials = alt.X("trials:Q", axis=alt.Axis(format="~s", values=list(found)))
    colour = alt.Color("step:N", legend=alt.Legend(title=None, orient="bottom", columns=3, labelLimit=300))
    charts = [
        alt.Chart(values[values["unit"] == unit], width=340, height=280)
        .mark_line(point=True)
        .encode(
            x=trials.scale(type="log", domain=[min(found), max(found)]),
            y=alt.Y("value:Q", title=unit).scale(type="log", nice=False, padding=10).axis(tickCount=5, format="~g"),
            color=colour.scale(domain=steps, range=list(COLOURS[: len(steps)])),
        )
        for unit in ("CPU s", "peak MB")
    ]
    return f"{vl_convert.vegalite_to_svg(alt.hconcat(*charts).resolve_scale(y='independent').to_dict())}\n"


if __name__ == "__main__":
    main()
