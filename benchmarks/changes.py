"""How many false alarms the change points raise, how many real steps they find, and how long they take.

`python -m benchmarks.changes` measures and writes the table, side by side with Apache Otava where that can be imported
(`pip install apache-otava`, best in an environment of its own). `python -m benchmarks.changes --calibrate` prints the
table of prices that inference/changes.py holds. All draws are seeded.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inference.changes import (
    ALPHAS,
    change_points,
    cumulative_costs,
    noise_scale,
    prices_of,
    segment,
    shortest_segment,
    split_gains,
)

try:
    from otava.analysis import compute_change_points  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    compute_change_points = None

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESULT = Path(__file__).parent / "results" / "changes.md"
LENGTHS = (4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 20, 30, 50, 100, 200, 500, 1000, 2000)
STEPPED_SERIES, LEVEL_SERIES = 4000, 10_000  # false alarms are rare: it takes more series to tell 1 % from 2 %
RUNS = 100
NOISE_RATIO = 0.02
NEAR = 2  # a reported place counts as the true one within this many runs

Detector = Callable[["NDArray[np.float64]"], list[int]]


class Case(NamedTuple):
    """A kind of series.

    Attributes:
        name: How the table calls it.
        places: Where its level changes: the first runs at a new level.
        ratios: The levels from each place on, over the first level.
        dip_chance: How many runs dip.
        dip_ratios: The least and the most that such a run loses.
        hosts_apart: How far the second of two hosts, mixed at random, lies below the first.
        correlation: Of the noise of neighbouring runs.
        rounded_to: What the figures are multiples of, over the first level; 0 for exact figures.
    """

    name: str
    places: tuple[int, ...] = ()
    ratios: tuple[float, ...] = ()
    dip_chance: float = 0.0
    dip_ratios: tuple[float, float] = (0.1, 0.3)
    hosts_apart: float = 0.0
    correlation: float = 0.0
    rounded_to: float = 0.0


CASES = (
    Case("false alarm: clean noise"),
    Case("false alarm: 5 % of the runs dip by 10 to 30 %", dip_chance=0.05),
    Case("false alarm: 5 % of the runs dip by just 10 %", dip_chance=0.05, dip_ratios=(0.1, 0.1)),
    Case("false alarm: 5 % of the runs spike by 10 to 30 %", dip_chance=0.05, dip_ratios=(-0.3, -0.1)),
    Case("false alarm: two hosts 4 % apart, mixed at random", hosts_apart=0.04),
    Case("false alarm: figures rounded to 2 %", rounded_to=0.02),
    Case("false alarm: figures rounded to 5 %", rounded_to=0.05),
    Case("false alarm: neighbouring runs correlate by 0.3", correlation=0.3),
    Case("found: -5 %, 3 runs after", (97,), (0.95,)),
    Case("found: -5 %, 10 runs after", (90,), (0.95,)),
    Case("found: -3 %, 10 runs after", (90,), (0.97,)),
    Case("found: -2 %, 50 runs after", (50,), (0.98,)),
    Case("found: -10 %, 3 runs after", (97,), (0.90,)),
    Case("found: -5 % for 10 runs and back, both places", (45, 55), (0.95, 1.0)),
    Case("found: -5 %, 10 runs after, 5 % of the runs dip", (90,), (0.95,), dip_chance=0.05),
)


def main() -> None:
    """Measure, print the tables, and write them to benchmarks/results/changes.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calibrate", action="store_true", help="print the table of prices and stop (ten minutes)")
    if parser.parse_args().calibrate:
        calibrate()
        return
    text = "\n".join([*comparison(), "", *smallest_steps()]) + "\n"
    RESULT.write_text(text)
    print(text, end="")


def calibrate() -> None:
    """Print, for each length, the price that clean noise pays for a change with the probabilities ALPHAS.

    The price that buys a single split is quick to draw often; what several changes add to it is drawn less often, as
    the difference that they make in the same series.
    """
    for n in LENGTHS:
        often, seldom = min(100_000, 20_000_000 // n), min(20_000, 3_000_000 // n)
        gains = best_gains(np.random.default_rng([2544, n]), often, np.zeros(n))
        ignored = float(np.quantile(gains, 0.7))  # below the last of ALPHAS
        few = [
            dearest_prices(series, ignored) for series in np.random.default_rng([2544, n, 2]).normal(size=(seldom, n))
        ]
        single, several = np.quantile(few, 1 - np.array(ALPHAS), axis=0).T
        prices = np.quantile(gains, 1 - np.array(ALPHAS)) + several - single
        print(f"    {n}: ({', '.join(f'{price:.2f}' for price in prices)}),", flush=True)


def dearest_prices(series: NDArray[np.float64], least: float) -> tuple[float, float]:
    """Return the highest price at which the series has one change, and at which it has any; or `least` if that is more.

    The price follows from the segmentation that it buys (Dinkelbach, "On Nonlinear Fractional Programming", Management
    Science 13, 1967): the gain of all its changes over their number, until nothing is bought.
    """
    sums = cumulative_costs((series - np.median(series)) / noise_scale(series))
    single = price = max(least, float(split_gains(sums, shortest_segment(series.size)).max()))
    while len(bounds := segment(sums, price + 1e-9)) > 2:
        cost = sum((sums[end] - sums[first]).min() for first, end in pairwise(bounds))
        price = float(sums[-1].min() - cost) / (len(bounds) - 2)
    return single, price


def best_gains(random: np.random.Generator, draws: int, means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the gain of the best single split in `draws` series of normal runs around `means`, sd 1."""
    batch = max(4000 // len(means), 1)
    gains = []
    for _ in range(-(-draws // batch)):
        series = means + random.standard_normal((batch, len(means)))
        scaled = (series - np.median(series, axis=1, keepdims=True)) / noise_scale(series)[:, None]
        gains.append(split_gains(cumulative_costs(scaled), shortest_segment(len(means))).max(axis=1))
    return np.concatenate(gains)


def comparison() -> list[str]:
    """Return the table of detectors side by side, in Markdown."""
    detectors: dict[str, Detector] = {
        "likelihood ratio, noise known, 1 %": partial(likelihood_ratio, threshold=likelihood_ratio_threshold(0.01)),
        "Dropline, alpha 1 %": partial(dropline, alpha=0.01),
    }
    if compute_change_points:
        rate = score(otava, CASES[0])
        detectors[f"Dropline, alpha {100 * rate:.1f} % (Otava's rate)"] = partial(dropline, alpha=rate)
        detectors["Otava, window 50, p 0.001"] = otava
    lines = [
        f"Percent of {LEVEL_SERIES:,} series without and {STEPPED_SERIES:,} with a change, of {RUNS} runs each, normal"
        f" noise of {100 * NOISE_RATIO:.0f} %. Found: a reported place within {NEAR} runs of each true one."
        + ("" if compute_change_points else " Otava is not installed here: `pip install apache-otava`."),
        "",
        f"| series | {' | '.join(detectors)} |",
        "|---|" + "---|" * len(detectors),
    ]
    lines += [
        f"| {case.name} | {' | '.join(f'{100 * score(detect, case):.1f}' for detect in detectors.values())} |"
        for case in CASES
    ]
    for n in (100, 1000):
        took = " | ".join(f"{milliseconds(detect, n):.1f}" for detect in detectors.values())
        lines.append(f"| ms for {n} runs, three changes | {took} |")
    return lines


def draw(case: Case, count: int) -> NDArray[np.float64]:
    """Return series of a case, shape (count, RUNS); the noise is a ratio of the level."""
    random = np.random.default_rng([2544, CASES.index(case)])
    levels = np.ones(RUNS)
    for place, ratio in zip(case.places, case.ratios, strict=True):
        levels[place:] = ratio
    shape = (count, RUNS)
    noise = random.standard_normal(shape)
    for run in range(1, RUNS):
        noise[:, run] = case.correlation * noise[:, run - 1] + np.sqrt(1 - case.correlation**2) * noise[:, run]
    values = levels * (1 + NOISE_RATIO * noise)
    values *= 1 - (random.random(shape) < case.dip_chance) * random.uniform(*case.dip_ratios, shape)
    values *= 1 - (random.random(shape) < 0.5) * case.hosts_apart
    if case.rounded_to:
        values = np.round(values / case.rounded_to) * case.rounded_to
    return 10_000 * values


def score(detect: Detector, case: Case, count: int | None = None) -> float:
    """Return the share of series in which all true places are found, or, without any, one is reported."""
    count = count or (STEPPED_SERIES if case.places else LEVEL_SERIES)
    reported = [detect(series) for series in draw(case, count)]
    if not case.places:
        return float(np.mean([bool(places) for places in reported]))
    return float(np.mean([all(is_near(true, places) for true in case.places) for places in reported]))


def is_near(true: int, places: list[int]) -> bool:
    """Return whether one of the places is as good as the true one."""
    return any(abs(place - true) <= NEAR for place in places)


def dropline(series: NDArray[np.float64], alpha: float) -> list[int]:
    """Detect with Dropline's own change points."""
    return [change.index for change in change_points(series, alpha)]


def otava(series: NDArray[np.float64]) -> list[int]:
    """Detect with Otava as published; it cuts windows out of lists only and takes an array whole."""
    found, _ = compute_change_points(series.tolist(), window_len=50, max_pvalue=0.001, min_magnitude=0.0)
    return [point.index for point in found]


def likelihood_ratio(series: NDArray[np.float64], threshold: float) -> list[int]:
    """Detect one change with the Gaussian likelihood ratio that is told the noise and fears no dips."""
    gains = gaussian_gains(series / 10_000 / NOISE_RATIO)
    return [int(gains.argmax()) + 1] if gains.max() > threshold else []


def likelihood_ratio_threshold(alpha: float) -> float:
    """Return what the largest ratio in clean noise exceeds with probability alpha."""
    noise = np.random.default_rng(2544).standard_normal((100_000, RUNS))
    return float(np.quantile(gaussian_gains(noise).max(axis=1), 1 - alpha))


def gaussian_gains(scaled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return twice the log likelihood ratio of each split, shape (..., n - 1), for noise of sd 1."""
    n = scaled.shape[-1]
    before = np.arange(1, n)
    sums = np.cumsum(scaled - scaled.mean(axis=-1, keepdims=True), axis=-1)[..., :-1]
    return np.asarray(sums**2 * n / (before * (n - before)))


def milliseconds(detect: Detector, n: int) -> float:
    """Return the median time of 15 calls on a series of n runs whose level falls by 5 % three times."""
    levels = 0.95 ** np.repeat(np.arange(4), n // 4)
    series = 10_000 * levels * (1 + NOISE_RATIO * np.random.default_rng(n).standard_normal(n))
    took = []
    for _ in range(15):
        began = time.perf_counter()
        detect(series)
        took.append(time.perf_counter() - began)
    return 1000 * float(np.median(took))


def smallest_steps() -> list[str]:
    """Return the table of what short series can show, in Markdown."""
    lines = [
        "The smallest step that alpha 1 % finds in 8 of 10 clean series, in standard deviations of the noise:",
        "",
        "| runs | in the middle | at the last runs that may be a level |",
        "|---|---|---|",
    ]
    for n in (4, 5, 6, 7, 8, 10, 12, 16, 20, 30, 50, 100):
        price = np.interp(np.log(0.01), np.log(ALPHAS), prices_of(n))
        places = (n // 2, n - shortest_segment(n))
        lines.append(f"| {n} | {' | '.join(f'{smallest_step(n, place, float(price)):.1f}' for place in places)} |")
    return lines


def smallest_step(n: int, place: int, price: float) -> float:
    """Return the first of 1.0, 1.1, ... that 80 % of 1000 series of n runs show, in standard deviations."""
    after = np.arange(n) >= place
    for step in np.arange(1, 40, 0.1):
        gains = best_gains(np.random.default_rng([n, place]), 1000, step * after)
        if np.mean(gains > price) >= 0.8:
            return float(step)
    msg = f"no step below 40 standard deviations shows in {n} runs: lower the price"
    raise ValueError(msg)


if __name__ == "__main__":
    main()
