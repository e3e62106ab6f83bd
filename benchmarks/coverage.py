"""How often the interval of a capacity covers the truth, and how wide it is beside Student's.

Run it with `python -m benchmarks.coverage`; `--calibrate` writes the seeds of constants that the models read instead.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy import stats

from inference.comparison import exact_table, ratio_interval
from inference.location import constants, undisturbed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Rates = NDArray[np.float64]
    Bounds = tuple[Rates, Rates]

ROOT: Final = Path(__file__).parent.parent
RESULT: Final = Path(__file__).parent / "results" / "coverage.md"
SETS: Final = 40_000
RESAMPLES: Final = 1_000
BOOTSTRAPPED_SETS: Final = 1_000
TRUTH: Final = 1.0
VARIATION: Final = 0.02
DIP_PROBABILITY: Final = 0.05
DIP_DEPTH: Final = (0.10, 0.30)
RUNS: Final = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 45, 60)
STEPS: Final = (0.01, 0.02, 0.05, 0.10)
PAIRS: Final = ((3, 3), (5, 5), (9, 9), (10, 30), (30, 10), (30, 30))


def main() -> None:
    """Simulate and write benchmarks/results/coverage.md, or write the seeds of constants."""
    if "--calibrate" in sys.argv[1:]:
        _write_seed("interval_constants", ("runs", "dip_stdevs", "detectable_stdevs"), constants())
        _write_seed("mann_whitney", ("smaller_runs", "larger_runs", "u", "p_value"), exact_table())
        return
    text = "\n\n".join([_introduction(), _capacities(), _rivals(), _ramps(), _ratios()]) + "\n"
    RESULT.write_text(text)
    print(text, end="")


def simulated(noise: np.random.Generator, sets: int, runs: int, *, dips: bool) -> Rates:
    """Return rates of shape (sets, runs) around TRUTH; with `dips` each run is now and then disturbed."""
    rates = noise.normal(TRUTH, VARIATION * TRUTH, (sets, runs))
    if not dips:
        return rates
    depth = np.where(noise.random(rates.shape) < DIP_PROBABILITY, noise.uniform(*DIP_DEPTH, rates.shape), 0)
    return rates * (1 - depth)


def coverage(bounds: Bounds) -> float:
    """Return the share of the intervals that hold TRUTH."""
    return float(np.mean((bounds[0] <= TRUTH) & (bounds[1] >= TRUTH)))


def student(rates: Rates) -> Bounds:
    """Return Student's 95 % interval of the mean of each set."""
    mean, error = rates.mean(axis=-1), stats.sem(rates, axis=-1)
    half_width = stats.t.ppf(0.975, rates.shape[-1] - 1) * error
    return mean - half_width, mean + half_width


def tukey_mclaughlin(rates: Rates) -> Bounds:
    """Return the interval of the mean without the lowest and the highest run (Sankhya A 25, 1963, pp. 331-352)."""
    ordered, runs = np.sort(rates, axis=-1), rates.shape[-1]
    winsorised = ordered.copy()
    winsorised[:, 0], winsorised[:, -1] = ordered[:, 1], ordered[:, -2]
    mean = ordered[:, 1:-1].mean(axis=-1)
    error = winsorised.std(axis=-1, ddof=1) * np.sqrt(runs) / (runs - 2)
    half_width = stats.t.ppf(0.975, runs - 3) * error
    return mean - half_width, mean + half_width


def percentile_bootstrap(rates: Rates) -> Bounds:
    """Return the middle 95 % of the means of resampled runs of each set."""
    noise = np.random.default_rng(1979)
    chosen = noise.integers(rates.shape[-1], size=(len(rates), RESAMPLES, rates.shape[-1]))
    means = np.take_along_axis(rates[:, None, :], chosen, axis=-1).mean(axis=-1)
    low, high = np.quantile(means, (0.025, 0.975), axis=-1)
    return low, high


def _introduction() -> str:
    return (
        "# Coverage of the 95 % intervals\n\n"
        f"Written by `python -m benchmarks.coverage`: {SETS:,} sets of runs each, normal, varying by {VARIATION:.0%};\n"
        f"`dips`: each run dips with probability {DIP_PROBABILITY:.0%} by {DIP_DEPTH[0]:.0%} to {DIP_DEPTH[1]:.0%}."
        f" The standard error of a share is {100 * np.sqrt(0.05 * 0.95 / SETS):.2f} %.\n"
        "Width: mean width of the interval over the mean width of Student's on the mean of all runs, on the same data."
    )


def _capacities() -> str:
    noise = np.random.default_rng(2544)
    rows = []
    for runs in RUNS:
        cells = [f"{runs}"]
        for dips in (False, True):
            rates = simulated(noise, SETS, runs, dips=dips)
            kept = undisturbed(rates)
            ours, classic = kept.interval(), student(rates)
            relative_width, found = _width(ours) / _width(classic), np.mean(kept.dipping > 0)
            cells += [f"{coverage(ours):.1%}", f"{coverage(classic):.1%}", f"{relative_width:.2f}", f"{found:.1%}"]
        rows.append(cells)
    head = ["runs"]
    for data in ("clean", "dips"):
        head += [f"{data}: covered", "Student", "width", "sets with a dip found"]
    return "## A capacity\n\n" + _table(head, rows)


def _rivals() -> str:
    noise = np.random.default_rng(4180)
    methods = (student, tukey_mclaughlin, percentile_bootstrap, lambda rates: undisturbed(rates).interval())
    rows = []
    for runs in (5, 9, 10, 30):
        for dips in (False, True):
            rates = simulated(noise, SETS, runs, dips=dips)
            sets = [rates[:BOOTSTRAPPED_SETS] if method is percentile_bootstrap else rates for method in methods]
            covered = [f"{coverage(method(part)):.1%}" for method, part in zip(methods, sets, strict=True)]
            rows.append([f"{runs}", "dips" if dips else "clean", *covered])
    head = ["runs", "data", "Student", "trimmed mean", "percentile bootstrap", "Dropline"]
    note = f"The bootstrap is judged on {BOOTSTRAPPED_SETS:,} sets: the standard error of its share is 0.7 to 1.2 %."
    return f"## What else was considered\n\n{_table(head, rows)}\n\n{note}"


def _ramps() -> str:
    noise = np.random.default_rng(1898)
    rows = []
    for step in STEPS:
        cells = [f"{step:.0%}"]
        for runs in (5, 9, 30):
            rates = simulated(noise, SETS, runs, dips=False)
            first = noise.uniform(0, step, (SETS, 1))
            seen = np.floor((rates - first) / step) * step + first + step / 2
            cells.append(f"{coverage(undisturbed(seen, step).interval()):.1%}")
        rows.append(cells)
    note = (
        "Clean runs, each seen only as the middle of a step of its ramp. A step wider than the spread hides the truth."
    )
    return f"## What a ramp hides\n\n{_table(['step', '5 runs', '9 runs', '30 runs'], rows)}\n\n{note}"


def _ratios() -> str:
    noise = np.random.default_rng(8219)
    rows = []
    for treatment, baseline in PAIRS:
        cells = [f"{treatment} / {baseline}"]
        for dips in (False, True):
            sides = (simulated(noise, SETS, runs, dips=dips) for runs in (treatment, baseline))
            bounds = ratio_interval(*sides)
            cells += [f"{coverage((bounds.low, bounds.high)):.1%}", f"{_width((bounds.low, bounds.high)):.4f}"]
        rows.append(cells)
    return "## A ratio of two capacities\n\n" + _table(
        ["runs", "clean: covered", "mean width", "dips: covered", "mean width"], rows
    )


def _width(bounds: Bounds) -> float:
    return float(np.mean(bounds[1] - bounds[0]))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows))


def _write_seed(name: str, columns: Sequence[str], rows: Iterable[Sequence[float | None]]) -> None:
    """Write seeds/<name>.csv; ten digits are more than any simulation can tell apart."""
    with (ROOT / "seeds" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(["" if value is None else f"{value:.10g}" for value in row] for row in rows)


if __name__ == "__main__":
    main()
