"""Whether one configuration is faster than another, by how much, and whether the runs can say so at all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np
from scipy import stats

from inference.location import CONFIDENCE, undisturbed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

Verdict = Literal["faster", "slower", "no evidence", "too few runs", "not testable"]

SIGNIFICANCE: Final = 1 - CONFIDENCE
FEWEST_RUNS: Final = 2
EXACT_SMALLER: Final = 8  # the sizes up to which the exact distribution is tabulated; the first is scipy's own limit
EXACT_LARGER: Final = 20


class RatioInterval(NamedTuple):
    """A ratio of two undisturbed capacities with both ends of its 95 % interval, one value for each pair of sets."""

    ratio: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class RankTest(NamedTuple):
    """The test of Mann and Whitney.

    Attributes:
        u: pairs of runs in which the treatment is above the baseline, a tie for half a pair.
        p_value: two-sided.
        p_floor: the p value of complete separation at these numbers of runs: no smaller one can come out.
        is_above: the treatment wins more than half of the pairs.

    """

    u: float
    p_value: float
    p_floor: float
    is_above: bool


def ratio_interval(
    treatment: ArrayLike,
    baseline: ArrayLike,
    treatment_resolution: ArrayLike = 0.0,
    baseline_resolution: ArrayLike = 0.0,
) -> RatioInterval:
    """Return the undisturbed capacity of the treatment over the baseline's, with Welch's interval on the log scale.

    The variance of each mean's logarithm is taken to first order; the degrees of freedom are Satterthwaite's (B. L.
    Welch, Biometrika 34, 1947, pp. 28-35). Both ends are nan where a side has fewer than two runs that do not dip, and
    where the runs of both sides are all alike.

    Args:
        treatment: capacities of its runs, shape (..., runs), positive, in any unit.
        baseline: the same of the baseline, in the same unit.
        treatment_resolution: step of the treatment's ramps, see `undisturbed`.
        baseline_resolution: step of the baseline's.

    Raises:
        ValueError: a set has no run, or a rate is not a finite number.

    """
    sides = undisturbed(treatment, treatment_resolution), undisturbed(baseline, baseline_resolution)
    above, below = ((side.stdev / side.mean) ** 2 / side.runs for side in sides)
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = (above + below) ** 2 / (above**2 / (sides[0].runs - 1) + below**2 / (sides[1].runs - 1))
    half_width = stats.t.ppf(0.5 + CONFIDENCE / 2, degrees) * np.sqrt(above + below)
    ratio = sides[0].mean / sides[1].mean
    return RatioInterval(ratio, ratio * np.exp(-half_width), ratio * np.exp(half_width))


def rank_test(treatment: Sequence[float], baseline: Sequence[float]) -> RankTest | None:
    """Test whether runs of the treatment tend to lie above or below the baseline's; None with fewer than two on a side.

    Exact without ties and up to EXACT_SMALLER against EXACT_LARGER runs, else by the normal approximation with
    corrections for ties and continuity (H. B. Mann and D. R. Whitney, Annals of Mathematical Statistics 18, 1947, pp.
    50-60). The approximation with ties can fall below any p value that a permutation of the runs could give: the floor
    holds for it, too.
    """
    sizes = len(treatment), len(baseline)
    if min(sizes) < FEWEST_RUNS:
        return None
    higher, lower = np.asarray(treatment, dtype=float)[:, None], np.asarray(baseline, dtype=float)[None, :]
    u = float((higher > lower).sum() + (higher == lower).sum() / 2)
    _, tied = np.unique(np.concatenate([treatment, baseline]), return_counts=True)
    ties = int((tied.astype(np.int64) ** 3 - tied).sum())
    fewer = min(u, math.prod(sizes) - u)
    p_floor = _p_value(0, *sizes, ties=0)
    return RankTest(u, max(p_floor, _p_value(fewer, *sizes, ties=ties)), p_floor, u > math.prod(sizes) / 2)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for their number, in their order (S. Holm, Scand. J. Statistics 6, 1979, pp. 65-70)."""
    adjusted, largest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def verdict(test: RankTest | None, p_value_holm: float | None = None, tests: int = 1) -> Verdict:
    """Say in words what a test found among so many; `p_value_holm` is its p value if it stands alone.

    `too few runs` means that not even complete separation would have been evidence among so many tests.
    """
    if test is None:
        return "not testable"
    if (test.p_value if p_value_holm is None else p_value_holm) <= SIGNIFICANCE:
        return "faster" if test.is_above else "slower"
    return "too few runs" if test.p_floor * tests > SIGNIFICANCE else "no evidence"


def exact_p_values(smaller: int, larger: int) -> list[float]:
    """Return the two-sided p values of u = 0, 1, ... smaller * larger // 2 without ties, u the rarer kind of pair.

    The arrangements with u such pairs are the coefficients of the Gaussian binomial of both numbers of runs.
    """
    arrangements = [1] + [0] * (smaller * larger)
    for size in range(1, smaller + 1):
        for u in range(len(arrangements) - 1, larger + size - 1, -1):
            arrangements[u] -= arrangements[u - larger - size]
        for u in range(size, len(arrangements)):
            arrangements[u] += arrangements[u - size]
    total, tail = math.comb(smaller + larger, smaller), 0
    p_values = []
    for count in arrangements[: smaller * larger // 2 + 1]:
        tail += count
        p_values.append(min(1.0, 2 * tail / total))
    return p_values


def exact_table() -> Iterator[tuple[int, int, int, float]]:
    """Yield (smaller, larger, u, p value) of all numbers of runs whose test is exact: seeds/mann_whitney.csv."""
    for smaller in range(FEWEST_RUNS, EXACT_SMALLER + 1):
        for larger in range(smaller, EXACT_LARGER + 1):
            for u, p_value in enumerate(exact_p_values(smaller, larger)):
                yield smaller, larger, u, p_value


def _p_value(fewer: float, one: int, other: int, *, ties: int) -> float:
    if not ties and min(one, other) <= EXACT_SMALLER and max(one, other) <= EXACT_LARGER:
        return exact_p_values(min(one, other), max(one, other))[int(fewer)]
    runs, pairs = one + other, one * other
    variance = pairs / 12 * (runs + 1 - ties / (runs * (runs - 1)))
    if variance <= 0:  # all runs alike
        return 1.0
    return min(1.0, 2 * float(stats.norm.sf((pairs / 2 - fewer - 0.5) / math.sqrt(variance))))
