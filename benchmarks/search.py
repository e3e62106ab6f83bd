"""How close the search of `dropline measure` gets to a known truth, and with how many trials.

Simulated servers replace the generator; the models' SQL judges the trials. Run it with `python -m benchmarks.search`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.ramps import LIMIT, SHAPES, TRIAL_NOISE_RATIO
from dropline.ingest.campaign import Method
from dropline.measure.gate import share_slower
from dropline.measure.judged import Capacity, capacities, rates_of_runs
from dropline.measure.search import Goal, Plan, Trial, bracket, next_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULT: Final = Path(__file__).parent / "results" / "search.md"
SETS: Final = 2_000
RUNS: Final = 9
KNEE: Final = 10_000
RANGE: Final = (0.3, 2.5)
NOISE: Final = 0.02
WIDTHS: Final = (0.02, 0.05)
DISTURBED: Final = 0.05
TRUTH: Final = (1 - LIMIT) * KNEE
GOAL: Final = Goal("isc", LIMIT, "worst_exchange", 0.001)
BIAS: Final = 0.005  # promised maximum
BENCHES: Final = 30
DROP: Final = 0.03  # the gate's threshold
SLOWER: Final = 0.05  # the simulated slowdown
FALSE_ALARMS: Final = 0.05
FOUND: Final = 0.8
COVERAGE_DISTURBED: Final = 0.92
TRIALS: Final = 9.0


class Outcome(NamedTuple):
    """The results of the search on many simulated servers."""

    bias: float
    coverage: float
    intervals: float
    width: float
    trials: float
    most: int


def run(knee: float, shape: str, plan: Plan, noise: np.random.Generator, disturbed: float) -> list[Trial]:
    """Search the knee of a server; in a disturbed trial a burst slows it down by 10 to 30 %."""
    trials: list[Trial] = []
    while (rate := next_rate(trials, [GOAL], plan)) is not None:
        today = knee * (1 + TRIAL_NOISE_RATIO * noise.standard_normal())
        if noise.random() < disturbed:
            today *= noise.uniform(0.7, 0.9)
        loss = float(SHAPES[shape](np.array(rate / today)))
        trials.append(Trial(rate, {GOAL.basis: loss, "lease": loss}, rate * (1 - loss)))
    return trials


def campaign(shape: str, width: float, noise: np.random.Generator, disturbed: float, runs: int) -> list[list[Trial]]:
    """Simulate a server's consecutive runs, each starting where the previous one ended."""
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
    """Search the knees of many servers and compare the models' results with the truth."""
    noise = np.random.default_rng(8219)
    servers = [campaign(shape, width, noise, disturbed, runs) for _ in range(sets)]
    numbered = [
        (f"{server:06}", server * runs + number, trials)
        for server, found in enumerate(servers)
        for number, trials in enumerate(found)
    ]
    judged = capacities(numbered, [GOAL], Method())
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


def self_test(shape: str, disturbed: float = 0, benches: int = BENCHES) -> tuple[float, float]:
    """Return the average `gate --self-test` result: false alarms, and how often a slower half is detected."""
    noise = np.random.default_rng(4411)
    shares = []
    for _ in range(benches):
        numbered = [
            ("bench", number, trials) for number, trials in enumerate(campaign(shape, 0.02, noise, disturbed, 2 * RUNS))
        ]
        runs = rates_of_runs(numbered, [GOAL]).append_column("started_at", pa.array(range(2 * RUNS)))
        shares.append([share_slower(runs, DROP, factor) for factor in (1.0, 1 - SLOWER)])
    alarms, found = np.mean(shares, axis=0)
    return float(alarms), float(found)


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


def _self_tests() -> Iterator[str]:
    for disturbed in (0, DISTURBED):
        for shape in SHAPES:
            alarms, found = self_test(shape, disturbed)
            yield f"| {shape} | {disturbed:.0%} | {alarms:.1%} | {found:.0%} |"


def main() -> None:
    """Simulate and write benchmarks/results/search.md."""
    rows, tests = _shown(_rows()), _shown(_self_tests())
    RESULT.write_text(
        f"""# How near does the search come, and with how many trials?

Written by `python -m benchmarks.search`. {SETS:,} servers a row, {RUNS} runs each, in the range of {RANGE[0]:g} to
{RANGE[1]:g} times the true rate; that of a run varies by {NOISE:.0%}, that of a trial by {TRIAL_NOISE_RATIO:.1%} more.
A disturbed trial meets a server that is slower by 10 to 30 %. The models' own SQL judges the trials, as a build does.
The standard error of a coverage near 96 % is {100 * (0.96 * 0.04 / SETS) ** 0.5:.1f} points.

| shape | bracket | disturbed | bias | covered | intervals | median width | trials a run | most |
|---|---|---|---|---|---|---|---|---|
{rows}

An interval spans two estimates of the crossing, linear in the loss and in its logarithm. Where the loss sets in
suddenly they differ, so a search goes on until they agree to an eighth of the bracket. More than 95 % are covered
because runs that resemble their neighbours widen an interval, even if by chance, and because runs that agree more
closely than their brackets allow get the bracket instead.

## Does the gate mislead?

What `dropline gate --self-test` says of {BENCHES} benches a row, on average: {2 * RUNS} runs split in halves at random,
`--fail-if "slower by {DROP:.0%}"`. Both halves are the same server, so each alarm is false; then one is slower by
{SLOWER:.0%}.

| shape | disturbed | false alarms | found |
|---|---|---|---|
{tests}
"""
    )


def _shown(rows: Iterator[str]) -> str:
    """Collect rows, printing each immediately."""
    found = []
    for row in rows:
        print(row, file=sys.stderr)
        found.append(row)
    return "\n".join(found)


if __name__ == "__main__":
    main()
