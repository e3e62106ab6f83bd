"""Hostile input over all readers: `make fuzz` runs many cases in two processes, `make test` a few.

A case is a file of the corpus, damaged. Its seed and number say which: `python tests/fuzz/fuzz.py --seed S --first N
--cases 1` runs it again for as long as the corpus is the same, and the input itself is kept below target/fuzz.
"""

from __future__ import annotations

import argparse
import secrets
import signal
import sys
import time
import traceback
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from mutations import Material, damage
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from targets import RECOGNITION, Tally, Target, owners

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]
CORPUS: Final = ("tests/captures", "examples", "tests/fuzz/seeds")
KEPT: Final = ROOT / "target" / "fuzz"
SECONDS: Final = 2.0  # of processor time, for an input below 1 MB
CASES_PER_TASK: Final = 500
_LARGEST: Final = 64 * 1024  # of a file of the corpus


class TooSlow(BaseException):
    """An input that takes more than SECONDS; no `except Exception` of a reader may hold it up."""


class Input(NamedTuple):
    """A damaged file: what reads it, where it comes from, what was done to it."""

    target: Target
    source: str
    done: list[str]
    data: bytes

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.source.rpartition("/")[2]


class Failure(NamedTuple):
    """A broken promise: which, of whom, and the input that shows it."""

    number: int
    target: str
    source: str
    done: list[str]
    error: str
    data: bytes


@dataclass
class Result:
    """What some cases came to, by target: sums of the tallies, the longest processor time, the failures."""

    tallies: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    slowest_s: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: Result) -> None:
        """Take in the result of other cases."""
        for name, tally in other.tallies.items():
            self.tallies[name] += tally
            self.slowest_s[name] = max(self.slowest_s[name], other.slowest_s[name])
        self.failures += other.failures


@cache
def corpus() -> dict[Target, dict[str, list[Path]]]:
    """Return the files of every target, by campaign or kind of capture, so that many alike count no more than few."""
    found: dict[Target, dict[str, list[Path]]] = {}
    paths = (path for folder in CORPUS for path in (ROOT / folder).rglob("*") if path.is_file())
    for path in sorted(paths):
        data = path.read_bytes()
        for target in owners(path.name, data) if len(data) <= _LARGEST else ():
            group = "/".join(path.relative_to(ROOT).parts[:3])
            found.setdefault(target, {}).setdefault(group, []).append(path)
    return dict(sorted(found.items(), key=lambda item: item[0].name))


def case(seed: int, number: int) -> Input:
    """Return the input of a case; the targets take turns."""
    chance = Random(f"{seed}:{number}")
    targets = list(corpus())
    target = targets[number % len(targets)]
    path, other = (_pick(chance, t) for t in (target, chance.choice((target, chance.choice(targets)))))
    data, done = damage(chance, path.read_bytes(), Material(other.read_bytes(), target.words))
    return Input(target, path.relative_to(ROOT).as_posix(), done, data)


def run(seed: int, numbers: range) -> Result:
    """Run cases: each input goes to its own reader and to everybody who claims it."""
    result = Result()
    for number in numbers:
        given = case(seed, number)
        if attempt(RECOGNITION, given, number, result):
            for target in dict.fromkeys((given.target, *owners(given.name, given.data))):
                attempt(target, given, number, result)
    return result


def attempt(target: Target, given: Input, number: int, result: Result) -> bool:
    """Give an input to a target and note in `result` what came of it; return whether all promises were kept.

    Who is too slow is asked again: a machine that stalls may charge that to the process, but not twice.
    """
    tally, took_s, error, is_late = _asked(target, given)
    if is_late:
        tally, took_s, error, is_late = _asked(target, given)
    # A reader may have taken the alarm for a failure of its own.
    if is_late and not error:
        error = f"took {took_s:.1f} s of processor time"
    if error:
        result.failures.append(Failure(number, target.name, given.source, given.done, error, given.data))
    result.tallies[target.name] += tally + Tally(inputs=1)
    result.slowest_s[target.name] = max(result.slowest_s[target.name], took_s)
    return not error


def keep(failure: Failure, seed: int, folder: Path = KEPT) -> str:
    """Write the input of a failure to `folder` and return what there is to know, in words."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{seed}-{failure.number}-{failure.target.replace(' ', '-')}"
    file.write_bytes(failure.data)
    return (
        f"{failure.target}: seed {seed}, case {failure.number}: {failure.source}, {', '.join(failure.done)}\n"
        f"kept in {file}\n{failure.error}"
    )


def main() -> None:
    """Run cases in several processes, print a table of what they came to, and fail when a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="another one each time unless given")
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    console, result = Console(), Result()
    console.print(f"seed {asked.seed}, {asked.cases:,} cases from {asked.first}")
    last = asked.first + asked.cases
    tasks = [range(at, min(at + CASES_PER_TASK, last)) for at in range(asked.first, last, CASES_PER_TASK)]
    with ProcessPoolExecutor(asked.processes) as pool, Progress(console=console) as progress:
        bar = progress.add_task("fuzzing", total=asked.cases)
        futures = {pool.submit(run, asked.seed, task): task for task in tasks}
        for future in as_completed(futures):
            result.add(future.result())
            progress.update(bar, advance=len(futures[future]), description=f"fuzzing, {len(result.failures)} failures")
    console.print(table(result))
    alike = {(failure.target, failure.error): failure for failure in reversed(result.failures)}
    for failure in alike.values():
        console.print(keep(failure, asked.seed), markup=False, highlight=False, soft_wrap=True)
    if result.failures:
        sys.exit(f"{len(result.failures)} of {asked.cases} cases broke a promise, in {len(alike)} ways")


def table(result: Result) -> Table:
    """Return what a result holds, a row for each target."""
    shown = Table(
        "reader", "inputs", "parts", "rejects", "unfit", "failures", "slowest", title="parts: reports, samples, rows"
    )
    failures = Counter(failure.target for failure in result.failures)
    for name, tally in sorted(result.tallies.items()):
        counts = (tally["inputs"], tally["parts"], tally["rejects"], tally["unfit"], failures[name])
        shown.add_row(name, *(f"{count:,}" for count in counts), f"{1000 * result.slowest_s[name]:,.0f} ms")
    for column in shown.columns[1:]:
        column.justify = "right"
    return shown


def _pick(chance: Random, target: Target) -> Path:
    return chance.choice(chance.choice(list(corpus()[target].values())))


def _asked(target: Target, given: Input) -> tuple[Tally, float, str, bool]:
    """Return what an input came to, the processor time that it took, the error if any, and whether it was too slow."""
    began, tally, error = time.process_time(), Tally(), ""
    try:
        with _limit() as alarms:
            tally = target.check(given.name, given.data)
    except (Exception, TooSlow):
        error = traceback.format_exc(limit=-3)
    return tally, time.process_time() - began, error, bool(alarms)


@contextmanager
def _limit() -> Iterator[list[int]]:
    """Raise TooSlow in the body after SECONDS of processor time: others who use the machine do not count.

    Yield the alarms so far: what a clock says afterwards may differ by more than a few ticks.
    """
    alarms: list[int] = []

    def stop(number: int, _frame: object) -> None:
        alarms.append(number)
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield alarms
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


if __name__ == "__main__":
    main()
