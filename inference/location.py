"""What a server sustains undisturbed: an interval from its runs, and how many runs it takes to see a difference.

Disturbances (a neighbour, a pause of the garbage collector) only ever slow a run down. Runs that dip are told apart by
a one-sided test of outliers; Student's interval on the others then covers the undisturbed capacity.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy import optimize, stats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

CONFIDENCE: Final = 0.95
POWER: Final = 0.80
DIP_LEVEL: Final = 0.002  # share of undisturbed sets in which the lowest run is taken for a dip: coverage lost
FEWEST_TESTED: Final = 4  # below, one run too low cannot be told from spread
TABULATED_RUNS: Final = 200

_TWO_SIDED: Final = 0.5 + CONFIDENCE / 2


class Undisturbed(NamedTuple):
    """The runs that do not dip, one value for each set of runs.

    Attributes:
        mean: their mean, in the unit of the runs; the centre of the interval.
        stdev: their sample standard deviation, in the same unit; nan for a single run.
        runs: how many they are.
        dipping: how many runs were left out.

    """

    mean: NDArray[np.float64]
    stdev: NDArray[np.float64]
    runs: NDArray[np.int64]
    dipping: NDArray[np.int64]

    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return both ends of Student's 95 % interval of the mean, never below zero; nan for a single run."""
        degrees = np.where(self.runs > 1, self.runs - 1, np.nan)
        half_width = stats.t.ppf(_TWO_SIDED, degrees) * self.stdev / np.sqrt(self.runs)
        return np.maximum(0.0, self.mean - half_width), self.mean + half_width


class Constants(NamedTuple):
    """What the models must know of a number of runs: a row of seeds/interval_constants.csv."""

    runs: int
    dip_stdevs: float | None
    detectable_stdevs: float


def undisturbed(rates: ArrayLike, resolution: ArrayLike = 0.0) -> Undisturbed:
    """Leave out the runs that dip.

    A run dips if it lies further below the mean of the runs above it than `dip_stdevs` of their standard deviations, to
    which a step of the ramp adds a twelfth of its square in variance (W. F. Sheppard, Proc. London Math. Soc. 29, 1898,
    pp. 353-380): runs that end a step apart are no dip. All runs below it dip with it. More than half of the runs
    remain; runs that are all alike bear no test. This is the generalised extreme Studentised deviate test of B. Rosner
    (Technometrics 25, 1983, pp. 165-172), one-sided: it is not blinded by a second dip beside the first.

    Args:
        rates: capacities of the runs, shape (..., runs), in any unit and order.
        resolution: step of the ramps, shape (...) or one for all, in the same unit.

    Raises:
        ValueError: there is no run, or a rate is not a finite number.

    """
    ordered = np.sort(np.atleast_1d(np.asarray(rates, dtype=float)), axis=-1)
    runs = ordered.shape[-1]
    if not runs or not np.isfinite(ordered).all():
        message = f"The rates are {rates!r}; expected at least one run, each with a finite rate"
        raise ValueError(message)
    dipping = np.zeros(ordered.shape[:-1], dtype=np.int64)
    mean, stdev = _moments(ordered)
    for below in range(1, (runs - 1) // 2 + 1):
        limit = dip_stdevs(runs - below + 1)
        if limit is None:
            break
        above = ordered[..., below:]
        mean_above, stdev_above = _moments(above)
        spread = np.hypot(stdev_above, np.asarray(resolution) / math.sqrt(12))
        dips = (mean_above - ordered[..., below - 1] > limit * spread) & (stdev_above > 0)
        dipping = np.where(dips, below, dipping)
        mean, stdev = np.where(dips, mean_above, mean), np.where(dips, stdev_above, stdev)
    return Undisturbed(mean, stdev, runs - dipping, dipping)


def dip_stdevs(runs: int) -> float | None:
    """Return how far the lowest of `runs` must lie below the mean of the others to dip, in their standard deviations.

    The lowest of `runs` normal values does so with probability DIP_LEVEL at most (Grubbs' test by Bonferroni's bound;
    NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.17). None below FEWEST_TESTED.
    """
    if runs < FEWEST_TESTED:
        return None
    others = runs - 1
    return float(stats.t.isf(DIP_LEVEL / runs, others - 1) * math.sqrt(1 + 1 / others))


@cache
def detectable_stdevs(runs: int) -> float:
    """Return the smallest difference that two sets of `runs` show with 80 % power, in standard deviations of a run.

    The test is Student's, two-sided at 5 %; the power is the noncentral t's (J. Cohen, Statistical Power Analysis for
    the Behavioral Sciences, 2nd ed. 1988, ch. 2). `runs` is at least 2.
    """
    degrees, scale = 2 * runs - 2, math.sqrt(runs / 2)
    threshold = stats.t.ppf(_TWO_SIDED, degrees)
    near = (threshold + stats.t.ppf(POWER, degrees)) / scale

    def missing_power(stdevs: float) -> float:
        return float(stats.nct.cdf(threshold, degrees, stdevs * scale)) - (1 - POWER)

    return float(optimize.brentq(missing_power, 0.9 * near, 1.1 * near))


def runs_needed(variation: float, change: float) -> int:
    """Return how many runs per side show a relative `change` with 80 % power at this coefficient of variation.

    Both are ratios, 0..1. Beyond TABULATED_RUNS the normal approximation serves (W. C. Guenther, The American
    Statistician 35, 1981, pp. 243-244).

    Raises:
        ValueError: the variation is negative or the change not positive.

    """
    if variation < 0 or change <= 0:
        message = f"Variation {variation:g} and change {change:g}; expected one of at least 0 and one above 0"
        raise ValueError(message)
    for row in constants():
        if row.detectable_stdevs * variation <= change:
            return row.runs
    quantile, reserve = float(stats.norm.ppf(_TWO_SIDED)), float(stats.norm.ppf(POWER))
    return math.ceil(2 * ((quantile + reserve) * variation / change) ** 2 + quantile**2 / 4)


def constants() -> Iterator[Constants]:
    """Yield the constants of 2 to TABULATED_RUNS runs."""
    for runs in range(2, TABULATED_RUNS + 1):
        yield Constants(runs, dip_stdevs(runs), detectable_stdevs(runs))


def _moments(ordered: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    mean = ordered.mean(axis=-1)
    if ordered.shape[-1] < 2:  # a single run has no spread
        return mean, np.full(mean.shape, np.nan)
    # runs that are all alike have no spread, not that of their last bits
    return mean, np.where(ordered[..., 0] < ordered[..., -1], ordered.std(axis=-1, ddof=1), 0.0)
