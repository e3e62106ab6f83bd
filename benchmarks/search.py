"""How near the search of `dropline measure` comes to a truth that is known, and with how many trials.

Servers that are simulated stand in for a generator; the models' SQL judges the trials. Run it with
`python -m benchmarks.search`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from benchmarks.ramps import LIMIT, SHAPES, TRIAL_NOISE_RATIO
from dropline.measure.judged import Capacity, capacities
from dropline.measure.search import Goal, Plan, Trial, bracket, next_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULT: Final = Path(__file__).parent / "results" / "search.md"
SETS: Final = 500
RUNS: Final = 9
KNEE: Final = 10_000
RANGE: Final = (0.3, 2.5)
NOISE: Final = 0.02
WIDTHS: Final = (0.02, 0.05)
DISTURBED: Final = 0.05
TRUTH: Final = (1 - LIMIT) * KNEE
GOAL: Final = Goal("isc", LIMIT, "worst_exchange", 0.001)
METHOD: Final = (1, 1, 5)
BIAS: Final = 0.005  # what is promised
COVERAGE: Final = 0.93
COVERAGE_DISTURBED: Final = 0.92
TRIALS: Final = 9.0


class Outcome(NamedTuple):
    """What the search found of many simulated servers."""

    bias: float
    coverage: float
    intervals: float
    width: float
    trials: float
    most: int


def run(knee: float, shape: str, plan: Plan, noise: np.random.Generator, disturbed: float) -> list[Trial]:
    """Search the knee of a server; a disturbed trial meets one that a burst slows down by 10 to 30 %."""
    trials: list[Trial] = []
    while (rate := next_rate(trials, [GOAL], plan)) is not None:
        today = knee * (1 + TRIAL_NOISE_RATIO * noise.standard_normal())
        if noise.random() < disturbed:
            today *= noise.uniform(0.7, 0.9)
        loss = float(SHAPES[shape](np.array(rate / today)))
        trials.append(Trial(rate, {GOAL.basis: loss}, rate * (1 - loss)))
    return trials


def campaign(shape: str, width: float, noise: np.random.Generator, disturbed: float, runs: int) -> list[list[Trial]]:
    """Run a server's runs one after the other, each beginning where the one before ended."""
    found: list[list[Trial]] = []
    low, high = (round(share * KNEE) for share in RANGE)
    expected: list[float] = []
    for _ in range(runs):
        middle = float(np.median(expected)) if expected else None
        plan = Plan(low, high, width, middle, noise.uniform())
        found.append(run(noise.normal(KNEE, NOISE * KNEE), shape, plan, noise, disturbed))
        passing, exceeding = bracket(found[-1], GOAL)
        expected += [(passing * exceeding) ** 0.5] if passing and exceeding else []
    return found


def simulate(shape: str, width: float, disturbed: float = 0, sets: int = SETS, runs: int = RUNS) -> Outcome:
    """Search the knees of many servers and hold what the models say against the truth."""
    noise = np.random.default_rng(8219)
    servers = [campaign(shape, width, noise, disturbed, runs) for _ in range(sets)]
    told = [
        (f"{server:06}", server * runs + number, trials)
        for server, found in enumerate(servers)
        for number, trials in enumerate(found)
    ]
    judged = capacities(told, [GOAL], METHOD)
    trials = [len(found) for found in (run for server in servers for run in server)]
    rates = [each.rate for each in judged if each.rate is not None]
    return Outcome(
        float(np.mean(rates)) / TRUTH - 1,
        float(np.mean([_covers(each) for each in judged])),
        float(np.mean([each.is_confidence for each in judged])),
        float(np.median([each.width for each in judged if each.width is not None])),
        float(np.mean(trials)),
        max(trials),
    )


def _covers(found: Capacity) -> bool:
    return (found.low or 0) <= TRUTH <= (found.high or float("inf"))


def _rows() -> Iterator[str]:
    for disturbed in (0, DISTURBED):
        for width in WIDTHS:
            for shape in SHAPES:
                found = simulate(shape, width, disturbed)
                yield (
                    f"| {shape} | {width:.0%} | {disturbed:.0%} | {found.bias:+.2%} | {found.coverage:.1%} | "
                    f"{found.intervals:.0%} | {found.width:.1%} | {found.trials:.1f} | {found.most} |"
                )


def main() -> None:
    """Simulate and write benchmarks/results/search.md."""
    rows = []
    for row in _rows():
        print(row, file=sys.stderr)
        rows.append(row)
    RESULT.write_text(
        f"""# How near does the search come, and with how many trials?

Written by `python -m benchmarks.search`. {SETS} servers a row, {RUNS} runs each, in the range of {RANGE[0]:g} to
{RANGE[1]:g} times the true rate; that of a run varies by {NOISE:.0%}, that of a trial by {TRIAL_NOISE_RATIO:.1%} more.
A disturbed trial meets a server that is slower by 10 to 30 %. The models' own SQL judges the trials, as a build does.

| shape | bracket | disturbed | bias | covered | intervals | median width | trials a run | most |
|---|---|---|---|---|---|---|---|---|
"""
        + "\n".join(rows)
        + "\n"
    )


if __name__ == "__main__":
    main()
