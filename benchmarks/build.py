"""The cost of a build: of a whole lake, of one more campaign, and of the engine alone for the largest part.

    python -m benchmarks.build                             a lake of 10,000 trials, generated
    python -m benchmarks.build --trials 1000000 --interims 17
    python -m benchmarks.build --lake FOLDER               an existing lake, as of `benchmarks.trees --as-lake`

Every build is a `dropline build`, so the start of the interpreter, of dbt and of Great Expectations counts. The results
go to benchmarks/results/build.md and .svg. On a busy machine CPU seconds are steadier.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb

from benchmarks.campaigns import CYCLE, INTERIMS, SEED, WEEKS, Campaign, measure
from benchmarks.plots import COLOURS, dots, publish, table
from benchmarks.trees import lake_of, write
from dropline.ingest.lake import Lake

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT: Final = Path(__file__).parents[1]
TRIALS: Final = 10_000
ADDED_TRIALS: Final = 100  # of one campaign, one file each
ADDED_TESTBED: Final = 99  # a machine without campaigns in any lake
WORKS: Final = (
    "floor: windows over the intervals, crossings of the ramps, by DuckDB alone",
    "the whole warehouse",
    f"one campaign of {ADDED_TRIALS} files more",
    "the same campaign in an empty lake",
)
PHASES: Final = ("checksums", "lake gate", "models", "marts gate", "publish")
MEMORY: Final = "1200MB"  # of DuckDB, as in profiles.yml
COUNTED: Final = ("trials", "exchanges", "intervals", "observations")

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


class Cost(NamedTuple):
    """The cost of a command: wall time, time of all CPUs, peak memory, and its output."""

    seconds: float
    cpu_s: float
    memory_mb: float
    said: str = ""

    @property
    def phases(self) -> list[str]:
        """The seconds of PHASES as `dropline build` prints them, or nothing for each."""
        found = [re.search(rf"\b{phase} ([\d.]+) s", self.said) for phase in PHASES]
        return [match[1] if match else "" for match in found]


def main() -> None:
    """Measure, print the tables, and write them to benchmarks/results/build.md."""
    read = argparse.ArgumentParser(prog="python -m benchmarks.build", description="Measure the build.")
    read.add_argument("--trials", type=int, nargs="+", help=f"sizes of the lakes to make, {TRIALS} if no lake is given")
    read.add_argument("--interims", type=int, default=INTERIMS, help="interim lines a trial in these")
    read.add_argument("--lake", type=Path, nargs="+", default=[], help="folders of lakes that are there; only read")
    read.add_argument("--folder", type=Path, help="where homes are put meanwhile")
    given = read.parse_args()
    head = f"Python {sys.version.split()[0]}, DuckDB {duckdb.__version__} with {MEMORY}, {os.cpu_count()} CPUs."
    done = []
    for trials in given.trials or ([] if given.lake else [TRIALS]):
        with tempfile.TemporaryDirectory(dir=given.folder) as name:
            lake_of(Path(name), trials, interims=given.interims)
            done.append(_measured(Path(name), given.folder))
    done += [_measured(lake.absolute(), given.folder) for lake in given.lake]
    text = "\n\n".join([head, *(_section(*each) for each in done)]) + "\n"
    publish("build", text, plot({f"{rows['trials']:,} trials": costs for rows, costs in done}))


def _measured(lake: Path, folder: Path | None) -> tuple[dict[str, int], dict[str, Cost]]:
    """Return the rows of a lake by table, and the cost of each kind of work on it."""
    rows = _counted(lake)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        full, empty, added = Path(name, "full"), Path(name, "empty"), Path(name, "added")
        home_with(full, lake)
        empty.mkdir()
        campaign = Campaign(ADDED_TESTBED * WEEKS, SEED, CYCLE[0], ADDED_TRIALS, INTERIMS)
        write(added / campaign.name, campaign, measure(campaign))
        floor = run("-c", f"from benchmarks.build import floor; floor({str(lake)!r}, {name!r})")
        whole = dropline(full, "build")
        dropline(empty, "build")
        more, alone = (_one_more(home, added) for home in (full, empty))
    return rows, dict(zip(WORKS, (floor, whole, more, alone), strict=True))


def _section(rows: Mapping[str, int], costs: Mapping[str, Cost]) -> str:
    """Return the title and the table of one lake."""
    floor, whole, more, alone = (costs[name] for name in WORKS)
    counts = ", ".join(f"{count:,} {name}" for name, count in rows.items())
    return "\n".join(
        [
            f"## {rows['trials']:,} trials",
            "",
            f"Rows of the lake: {counts}. Load of the machine: {os.getloadavg()[0]:.1f}.",
            "",
            _table(costs),
            "",
            f"{sum(rows.values()) / whole.seconds:,.0f} rows/s, {sum(rows.values()) / whole.cpu_s:,.0f} rows per CPU "
            f"second. The whole build takes {whole.cpu_s / floor.cpu_s:.1f} times the CPU of the floor; one campaign "
            f"more {more.cpu_s / alone.cpu_s:.2f} times that of the same in an empty lake.",
        ]
    )


def plot(costs: Mapping[str, Mapping[str, Cost]]) -> str:
    """Return an SVG of the CPU seconds of each kind of work, by lake."""
    rows = {name.split(":")[0]: {lake: of[name].cpu_s for lake, of in costs.items()} for name in WORKS}
    return dots(rows, dict(zip(costs, cycle(COLOURS), strict=False)), "s", range(4))


def home_with(home: Path, lake: Path) -> None:
    """Make a home whose lake links the batches of another, so that the other is never written."""
    shutil.copytree(lake / "log", home / "lake" / "log")
    (home / "lake" / "files").mkdir()
    for entry in Lake(lake).entries():
        if entry.files:
            (home / "lake" / "files" / entry.folder).symlink_to(lake / "files" / entry.folder, target_is_directory=True)


def floor(lake: str, folder: str) -> None:
    """Do the work that no build can avoid with DuckDB alone, into a database in `folder`."""
    with duckdb.connect(str(Path(folder, "floor.duckdb")), config={"memory_limit": MEMORY}) as connection:
        text = FLOOR
        for name in ("intervals", "trials"):
            files = ", ".join(f"'{file}'" for file in Lake(Path(lake)).files(name))
            text = text.replace(f"${name}", f"[{files}], union_by_name = true")
        connection.execute(text)


def dropline(home: Path, *command: str) -> Cost:
    """Run a command of Dropline in a home."""
    return run("-m", "dropline", "--home", str(home), *command)


def run(*arguments: str) -> Cost:
    """Run Python and return its cost.

    Raises:
        RuntimeError: it failed; the text is its output.
    """
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    said = process.stdout.read() if process.stdout else ""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(said)
    return Cost(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6, said)


def _one_more(home: Path, tree: Path) -> Cost:
    dropline(home, "ingest", str(tree))
    return dropline(home, "build")


def _counted(lake: Path) -> dict[str, int]:
    with duckdb.connect() as connection:
        files = {name: [str(file) for file in Lake(lake).files(name)] for name in COUNTED}
        return {name: connection.read_parquet(files[name]).shape[0] for name in COUNTED}


def _table(costs: Mapping[str, Cost]) -> str:
    heads = ["what", "seconds", "CPU seconds", "peak memory, MB", *(f"{phase}, s" for phase in PHASES)]
    rows = (
        [what, f"{cost.seconds:.1f}", f"{cost.cpu_s:.1f}", f"{cost.memory_mb:,.0f}", *cost.phases]
        for what, cost in costs.items()
    )
    return table(heads, rows)


if __name__ == "__main__":
    main()
