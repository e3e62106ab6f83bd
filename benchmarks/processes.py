"""The cost of some work in a process of its own: a command, or a function; and what a running process has cost."""

from __future__ import annotations

import multiprocessing
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

ROOT: Final = Path(__file__).parents[1]
SPAWN: Final = multiprocessing.get_context("spawn")


class Cost(NamedTuple):
    """The cost of some work: wall time, time of all CPUs, peak memory, and what it printed or returned."""

    seconds: float
    cpu_s: float
    memory_mb: float
    said: Any = ""


def dropline(home: Path, *command: str) -> Cost:
    """Run a command of Dropline in a home; `ingest` may end with 1, as some trials of benchmarks.trees are rejected."""
    return run("-m", "dropline", "--home", str(home), *command, fine=(0, 1) if command[0] == "ingest" else (0,))


def run(*arguments: str, fine: Sequence[int] = (0,)) -> Cost:
    """Run Python and return its cost; the peak memory is that of its largest process.

    Raises:
        RuntimeError: it ended with another code than the `fine` ones; the text is its output.
    """
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    said = process.stdout.read() if process.stdout else ""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in fine:
        raise RuntimeError(said)
    return Cost(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6, said)


def cost_of(work: Callable[..., Any], *given: Any) -> Cost:
    """Return the cost of a function in a fresh process, without its imports; its value is what it said."""
    ours, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=_report, args=(work, given, theirs))
    process.start()
    theirs.close()
    cost: Cost = ours.recv()
    process.join()
    return cost


def _report(work: Callable[..., Any], given: tuple[Any, ...], report: Connection) -> None:
    began, cpu_began_s, imported_mb = time.perf_counter(), _own_cpu_s(), peak_mb()
    said = work(*given)
    seconds, cpu_s = time.perf_counter() - began, _own_cpu_s() - cpu_began_s
    # Of several child processes only the largest is reported.
    report.send(Cost(seconds, cpu_s, max(peak_mb() - imported_mb, peak_mb(resource.RUSAGE_CHILDREN)), said))


def peak_mb(who: int = resource.RUSAGE_SELF) -> float:
    """Return the peak memory of this process, or of its largest finished child."""
    return resource.getrusage(who).ru_maxrss * 1024 / 1e6


def _own_cpu_s() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def cpu_s(process: int) -> float:
    """Return the CPU seconds of a process, its children and those that have ended (proc(5), fields 14 to 17)."""
    found = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    children = Path(f"/proc/{process}/task/{process}/children").read_text("utf-8").split()
    return sum(map(int, found[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(_cpu_s_if_alive, children))


def _cpu_s_if_alive(process: str) -> float:
    try:
        return cpu_s(int(process))
    except (FileNotFoundError, ProcessLookupError):
        return 0.0  # its parent counts it now
