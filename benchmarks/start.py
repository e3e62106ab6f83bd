"""Startup times that a user experiences: help, SQL, and the dashboard, each in a fresh process.

    python -m benchmarks.start HOME

The dashboard is ready when its health address responds, and painted when an already open browser shows the first
figures. The results go to benchmarks/results/start.md and .svg. The time of `make up` from scratch depends on the
network; with the packages in pip's cache it is measured by hand: docs/explanation/speed.md.
"""

from __future__ import annotations

import argparse
import statistics
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.pages import FIGURES, chromium, served
from benchmarks.plots import COLOURS, dots, machine, p95, publish, table
from benchmarks.processes import dropline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from playwright.sync_api import Page

TIMES: Final = 10
READY_WITHIN_S: Final = 60
SQL: Final = "select protocol, count(*) from trials group by protocol"


class Begin(NamedTuple):
    """A command, and its promised startup time in seconds."""

    name: str
    limit_s: float


HELP: Final = Begin("`dropline --help`", 0.3)
QUERY: Final = Begin("`dropline sql`, an aggregate over all trials", 1.0)
READY: Final = Begin("the dashboard answers", 3.0)
PAINT: Final = Begin("the dashboard shows its first figures", 3.0)


def main() -> None:
    """Measure, print the table, and write it to benchmarks/results/start.md, and its plot beside it."""
    read = argparse.ArgumentParser(prog="python -m benchmarks.start", description="Measure the start.")
    read.add_argument("home", type=Path)
    read.add_argument("--times", type=int, default=TIMES)
    given = read.parse_args()
    home = given.home.absolute()
    found: dict[Begin, list[float]] = {}
    cpu_s: dict[Begin, list[float]] = {}
    for begin, command in ((HELP, ["--help"]), (QUERY, ["sql", SQL])):
        costs = [dropline(home, *command) for _ in range(given.times + 1)][1:]
        found[begin] = [cost.seconds for cost in costs]
        cpu_s[begin] = [cost.cpu_s for cost in costs]
    with chromium() as page:
        waits = [_waited(home, page) for _ in range(given.times)]
    found[READY], found[PAINT] = ([wait[place] for wait in waits] for place in (0, 1))
    publish("start", _report(found, cpu_s, given.times), plot(found))


def plot(found: Mapping[Begin, Sequence[float]]) -> str:
    """Return an SVG of the startup seconds of each command: median, 95th percentile and goal."""
    rows = {
        begin.name.replace("`", ""): {"p50": statistics.median(values), "p95": p95(values), "goal": begin.limit_s}
        for begin, values in found.items()
    }
    return dots(rows, dict(zip(("p50", "p95", "goal"), COLOURS, strict=False)), "s", range(-2, 2))


def _waited(home: Path, page: Page) -> tuple[float, float]:
    """Start the dashboard; return the seconds until it responds, and until its first figures are visible."""
    began = time.perf_counter()
    with served(home) as address:
        while not _is_healthy(address):
            if time.perf_counter() - began > READY_WITHIN_S:
                message = f"{address} has not answered within {READY_WITHIN_S} s"
                raise TimeoutError(message)
            time.sleep(0.02)
        ready = time.perf_counter() - began
        page.goto(address)
        page.locator(FIGURES).first.wait_for()
        painted = time.perf_counter() - began
        page.goto("about:blank")
    return ready, painted


def _is_healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:  # noqa: S310 -- our own server
            return bool(answer.status == 200)
    except (urllib.error.URLError, TimeoutError):
        return False


def _report(found: dict[Begin, list[float]], cpu_s: dict[Begin, list[float]], times: int) -> str:
    rows = []
    for begin, seconds in found.items():
        cpu = f"{statistics.median(cpu_s[begin]):.2f}" if begin in cpu_s else ""
        spent = [f"{statistics.median(seconds):.2f}", f"{p95(seconds):.2f}", cpu]
        rows.append([begin.name, *spent, f"{begin.limit_s:g}"])
    heads = ["what begins", "p50", "p95", "CPU, median", "goal"]
    return f"n = {times} each, files in memory; {machine()}. Seconds.\n\n{table(heads, rows)}\n"


if __name__ == "__main__":
    main()
