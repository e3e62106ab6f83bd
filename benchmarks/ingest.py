"""Speed of the ingest, as ratios of one run: to the unavoidable work, and to hand-written alternatives.

`make bench` writes benchmarks/results/ingest.md and a plot; `python -m benchmarks.ingest --trials 100000 --runs 1`
measures a larger tree. Each kind of work runs in its own process, so that its peak memory is its own. All run in turn,
so that other load on the machine affects all of them; the fastest run counts.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sys
import tempfile
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import alternatives
from benchmarks.plots import COLOURS, dots, machine, publish, table
from benchmarks.processes import Cost, cost_of
from benchmarks.trees import Promise, render, render_again
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Work = Callable[[Path, Path], object]

TRIALS = (1_000, 10_000)
RUNS = 3
AGAIN = 0.01


def main() -> None:
    """Measure, print the tables, and write them to benchmarks/results/ingest.md, with a plot beside it."""
    read = argparse.ArgumentParser(prog="python -m benchmarks.ingest", description="Measure the ingest.")
    read.add_argument("--trials", type=int, nargs="+", default=TRIALS, help="sizes of the trees")
    read.add_argument("--runs", type=int, default=RUNS)
    read.add_argument("--folder", type=Path, help="where the trees and lakes are put meanwhile")
    given = read.parse_args()
    head = (
        f"The fastest of {given.runs} runs each, {machine()}, Python {sys.version.split()[0]}; the files were just "
        "written, so they come from memory."
    )
    measured = [_measured(trials, given.runs, given.folder) for trials in given.trials]
    text = "\n\n".join([head, *(_table(promise, best) for promise, best in measured)]) + "\n"
    publish("ingest", text, _plot(measured))


def _measured(trials: int, runs: int, folder: Path | None) -> tuple[Promise, dict[str, Cost]]:
    """Return the contents of a tree of one size, and the cost of each kind of work."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        tree, scratch = Path(name, "tree"), Path(name, "scratch")
        promise = render(tree, trials)
        best: dict[str, Cost] = {}
        for run in range(runs):
            scratch.mkdir()
            for what, cost in _costs(tree, scratch, trials, run):
                best[what] = min(cost, best.get(what, cost))
            shutil.rmtree(scratch)
    return promise, best


def _costs(tree: Path, scratch: Path, trials: int, run: int) -> Iterator[tuple[str, Cost]]:
    """Yield the cost of each kind of work; the last one gets a tree with some trials measured again."""
    for what, work in WORKS.items():
        if what == CHANGED:
            render_again(tree, trials, share=AGAIN, times=run + 1)
        yield what, cost_of(work, tree, scratch)


def hash_all(tree: Path, _: Path) -> None:
    """Do the work that no ingest can avoid."""
    for path in _files(str(tree)):
        with open(path, "rb") as file:  # noqa: PTH123 -- faster than a Path
            hashlib.sha256(file.read()).hexdigest()


def walk(tree: Path, _: Path) -> None:
    """Do the work needed to know whether a file is new."""
    for path in _files(str(tree)):
        os.stat(path)  # noqa: PTH116 -- faster than a Path


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files(entry.path)
            else:
                yield entry.path


def into_lake(tree: Path, scratch: Path) -> None:
    """Ingest the tree."""
    ingest([tree], Lake.create(scratch / "lake"))


CHANGED = f"Dropline again, {AGAIN:.0%} of the trials measured again"
WORKS: dict[str, Work] = {
    "floor: walk, read, SHA-256": hash_all,
    "bare walk: scandir, stat": walk,
    "a script: re, pandas, SQLite": alternatives.script,
    "SQL: DuckDB's read_text, regexp_extract": alternatives.sql,
    "Dropline": into_lake,
    "Dropline again, nothing new": into_lake,
    CHANGED: into_lake,
}


def _table(promise: Promise, best: dict[str, Cost]) -> str:
    floor, bare = (best[what].seconds for what in list(WORKS)[:2])
    megabytes = promise.size_bytes / 1e6
    rows = [
        [
            what,
            f"{cost.seconds:.2f}",
            f"{cost.cpu_s:.2f}",
            f"{promise.files / cost.seconds:,.0f}",
            f"{megabytes / cost.seconds:.1f}",
            f"{cost.memory_mb:.0f}",
            f"{cost.seconds / floor:.1f}",
            f"{cost.seconds / bare:.0f}",
        ]
        for what, cost in best.items()
    ]
    heads = ["what", "seconds", "CPU seconds", "files/s", "MB/s", "memory, MB", "times the floor", "times the walk"]
    title = f"## {promise.trials:,} trials: {promise.files:,} files, {megabytes:,.1f} MB"
    return f"{title}\n\n{table(heads, rows)}"


def _plot(measured: Sequence[tuple[Promise, dict[str, Cost]]]) -> str:
    """Return an SVG of the CPU time per file, in microseconds, log scale: a dot for each size of tree."""
    costs = {
        what: {_size(promise): 1e6 * best[what].cpu_s / promise.files for promise, best in measured} for what in WORKS
    }
    colours = dict(zip((_size(promise) for promise, _ in measured), cycle(COLOURS), strict=False))
    return dots(costs, colours, "us", range(5))


def _size(promise: Promise) -> str:
    return f"{promise.trials:,} trials"


if __name__ == "__main__":
    main()
