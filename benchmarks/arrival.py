"""How soon a new run is in the published warehouse, on a home with the examples, for each way to publish.

    python -m benchmarks.arrival

A run of 14 files, seven reports with their sidecars, is added to a campaign's folder. "By dbt" is a build after a
change of the models: the same statements, but dbt compiles them. The results go to benchmarks/results/arrival.md. On a
busy machine seconds double sooner than CPU seconds, and ratios hardly change.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.plots import machine, publish, table
from benchmarks.processes import ROOT, dropline, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

RUN: Final = "examples/kea-2.2-ha/runs/v4_mt4_memfile_hot-standby/rep1"
BY_DBT: Final = "from dropline import compiled; compiled.play = lambda *_: False; from dropline.cli import main; main()"
TIMES: Final = 5


class Way(NamedTuple):
    """A way to the published warehouse, and its promised time in seconds."""

    name: str
    goal_s: float | None


FIRST_BY_DBT: Final = Way("first build of the examples, by dbt", None)
FIRST: Final = Way("first build of the examples", 8)
COLD: Final = Way("one run more: `ingest`, then `build`", 4)
WATCHED: Final = Way("one run more: `watch`, from the copy to its line", 2)


class Arrival(NamedTuple):
    """The measured cost."""

    seconds: float
    cpu_s: float


def main() -> None:
    """Measure all ways in turn, print the table, and write it to benchmarks/results/arrival.md."""
    read = argparse.ArgumentParser(prog="python -m benchmarks.arrival", description="Measure the way of a new run.")
    read.add_argument("--times", type=int, default=TIMES)
    given = read.parse_args()
    found: dict[Way, list[Arrival]] = {way: [] for way in (FIRST_BY_DBT, FIRST, COLD, WATCHED)}
    with tempfile.TemporaryDirectory() as name:
        home, results = Path(name, "home"), Path(name, "results")
        shutil.copytree(ROOT / "examples", results)
        dropline(home, "ingest", str(results))
        for time_no in range(given.times):
            found[FIRST_BY_DBT].append(_built(home, "-c", BY_DBT, "--home", str(home), "build"))
            found[FIRST].append(_built(home, "-m", "dropline", "--home", str(home), "build"))
            _measure_again(results, 100 + time_no)
            ingest, build = dropline(home, "ingest", str(results)), dropline(home, "build")
            found[COLD].append(Arrival(ingest.seconds + build.seconds, ingest.cpu_s + build.cpu_s))
        found[WATCHED] = [*_watched(home, results, given.times)]
    publish("arrival", _report(found, given.times))


def _built(home: Path, *command: str) -> Arrival:
    """Build a home as if for the first time: without gate results and compiled models."""
    for folder in ("build", "quality"):
        shutil.rmtree(home / folder, ignore_errors=True)
    cost = run(*command)
    shutil.rmtree(home / "build")
    return Arrival(cost.seconds, cost.cpu_s)


def _measure_again(results: Path, repetition: int) -> None:
    """Add one more run to the campaign."""
    shutil.copytree(ROOT / RUN, results / RUN.removeprefix("examples/").replace("rep1", f"rep{repetition}"))


def _watched(home: Path, results: Path, times: int) -> Iterator[Arrival]:
    command = [sys.executable, "-u", "-m", "dropline", "--home", str(home), "watch", str(results)]
    _measure_again(results, 200)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout  # noqa: S101 - it is a pipe
        watching.stdout.readline()
        for time_no in range(times):
            spent, began = _cpu_s(watching.pid), time.perf_counter()
            _measure_again(results, 300 + time_no)
            watching.stdout.readline()
            yield Arrival(time.perf_counter() - began, _cpu_s(watching.pid) - spent)
        watching.send_signal(signal.SIGINT)


def _cpu_s(process: int) -> float:
    """Return the CPU seconds of a process (proc(5), fields 14 and 15)."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _report(found: Mapping[Way, Sequence[Arrival]], times: int) -> str:
    base = statistics.median(each.cpu_s for each in found[FIRST_BY_DBT])
    rows = []
    for way, arrivals in found.items():
        seconds, cpu_s = (statistics.median(values) for values in zip(*arrivals, strict=True))
        goal = "" if way.goal_s is None else f"{way.goal_s:g}"
        rows.append([way.name, f"{seconds:.1f}", f"{cpu_s:.1f}", f"{cpu_s / base:.2f}", goal])
    heads = ["what", "seconds", "CPU seconds", "CPU over the first build by dbt", "goal, s"]
    return f"n = {times} each, medians; {machine()}.\n\n{table(heads, rows)}\n"


if __name__ == "__main__":
    main()
