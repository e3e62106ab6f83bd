"""Thread scaling: a fit of the Universal Scalability Law, or the reason why there is none.

The law (N. J. Gunther, "Guerrilla Capacity Planning", Springer 2007, chapter 6; arXiv:0808.1431):

    X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1))

lambda is the rate of one thread, sigma (0..1) the share of the work that only one thread at a time can do (contention),
kappa the cost of keeping each pair of threads consistent (coherency). With kappa > 0, the rate is highest at
sqrt((1 - sigma) / kappa) threads and falls beyond.

With a = 1/lambda, b = a sigma and c = a kappa, the relative error of a fit is linear in its parameters:

    measured / fitted - 1 = measured / N (a + b (N - 1) + c N (N - 1)) - 1

so that bounded least squares on relative errors has a single minimum, found by non-negative least squares, as has each
of its profiles. All rates are in one unit, per second.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, nnls
from scipy.special import fdtri, stdtrit

Array = NDArray[np.float64]
_Ends = tuple[float | None, float | None]

PARAMETERS: Final = 3
SPREAD: Final = 2  # least ratio of the highest to the lowest thread count
TOLERANCE: Final = 0.05  # how far two rates may differ by chance if none was repeated
WORST_RESIDUAL: Final = 0.10  # largest root mean square error over the thread counts with which the law is accepted
_LEVEL: Final = 0.95
_NOTHING: Final = 1e-12  # a sum of squared relative errors that is only rounding
_SMALLEST: Final = 1e-9  # where the search for the end of an interval begins
_LARGEST: Final = 1e9  # where the search stops: the end is open


class Estimate(NamedTuple):
    """A value with its 95 % interval; an end is None if it is open or there are no degrees of freedom."""

    value: float
    low: float | None = None
    high: float | None = None


class Fit(NamedTuple):
    """The law of one server."""

    rate_one_thread: Estimate  # lambda, the rate of one thread
    sigma: Estimate  # contention, 0..1
    kappa: Estimate  # coherency, from 0
    peak_threads: Estimate | None  # number of threads with the highest rate; None if kappa = 0 cannot be excluded
    is_off: bool  # whether the mean rates miss the law by more than the runs scatter, as with a plateau
    residual_ratio: float  # root mean square of the relative errors of the thread counts' mean rates

    def rate(self, threads: float) -> float:
        """Return the rate that the law gives for this many threads."""
        return law(threads, self.rate_one_thread.value, self.sigma.value, self.kappa.value)


def law(threads: float, rate_one_thread: float, sigma: float, kappa: float) -> float:
    """Return X(N) of the Universal Scalability Law, in the unit of `rate_one_thread`."""
    return rate_one_thread * threads / (1 + sigma * (threads - 1) + kappa * threads * (threads - 1))


def summarise(
    threads: Sequence[int], rates: Sequence[float], cores: int | None = None, within: Mapping[int, float] | None = None
) -> dict[str, object]:
    """Return the warehouse's row on one server; arguments are those of `fit`.

    `within` holds the standard deviation for thread counts whose runs scatter less than their steps: these rates are
    replaced by two at that distance from their mean.

    `status` is `fitted`, `two_points` (the efficiency only) or `refused`; `reason` gives the cause, or caveats;
    `threads_above_cores` are the thread counts above the physical cores. A fit adds its figures, those with an interval
    also as `_ci_low` and `_ci_high`; for one more thread than measured, it adds the number `next_threads`, the fitted
    `next_rate`, and `next_gain_ratio`, the relative gain.
    """
    runs = [*zip(threads, rates, strict=True)]
    for count, spread in (within or {}).items():
        mean = fmean(rate for each, rate in runs if each == count)
        runs = [run for run in runs if run[0] != count]
        runs += [(count, max(mean - spread, mean / 2)), (count, mean + spread)]
    found = fit([count for count, _ in runs], [rate for _, rate in runs], cores)
    shared = sorted({count for count in threads if cores is not None and count > cores})
    if isinstance(found, str):
        status = "two_points" if len(set(threads)) == PARAMETERS - 1 else "refused"
        return {"status": status, "reason": found, "threads_above_cores": shared}
    most = max(threads)
    return {
        "status": "fitted",
        "reason": _caveats(threads, shared, cores, found, is_coarse=bool(within)),
        "threads_above_cores": shared,
        **_columns("rate_one_thread", found.rate_one_thread),
        **_columns("sigma", found.sigma),
        **_columns("kappa", found.kappa),
        **_columns("peak_threads", found.peak_threads),
        "residual_ratio": found.residual_ratio,
        "next_threads": most + 1,
        "next_rate": found.rate(most + 1),
        "next_gain_ratio": found.rate(most + 1) / found.rate(most) - 1,
    }


def _columns(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    ends = (name, f"{name}_ci_low", f"{name}_ci_high")
    return dict(zip(ends, estimate, strict=True)) if estimate else {}


def _caveats(threads: Sequence[int], shared: Sequence[int], cores: int | None, fitted: Fit, *, is_coarse: bool) -> str:
    caveats = [f"{len(set(threads))} thread counts, {len(threads)} rates"]
    if is_coarse:
        caveats.append("the steps are coarser than the runs scatter")
    if fitted.sigma.low is None and fitted.sigma.high is None:
        caveats.append("no more than the law has parameters, so there is no interval")
    elif fitted.peak_threads is None:
        why = "the rates miss the law by more than they scatter" if fitted.is_off else "kappa = 0 cannot be excluded"
        caveats.append(f"{why}, so no peak is given")
    if shared:
        caveats.append(f"{', '.join(map(str, shared))} threads share the {cores} physical cores")
    return "; ".join(caveats) + "."


def fit(threads: Sequence[int], rates: Sequence[float], cores: int | None = None) -> Fit | str:
    """Return the fit of the law to rates (above 0) by threads (from 1), or the reason why the data do not allow it.

    `cores` is the number of physical cores of the machine, None if unknown.
    """
    counts, values = np.asarray(threads, np.float64), np.asarray(rates, np.float64)
    return _unfit(counts, values, cores) or _fit(counts, values)


def _unfit(threads: Array, rates: Array, cores: int | None) -> str | None:
    counts = np.unique(threads)
    if len(counts) < PARAMETERS:
        many = "is one distinct thread count" if len(counts) == 1 else f"are {len(counts)} distinct thread counts"
        return f"There {many}; the law has three parameters and needs three."
    if counts[-1] < SPREAD * counts[0]:
        return f"{counts[0]:g} to {counts[-1]:g} threads are too little spread: the most must be twice the fewest."
    if cores is not None and counts[0] > cores:
        return f"All thread counts are above the {cores} physical cores, where threads share a core."
    return _superlinear(threads, rates)


def _superlinear(threads: Array, rates: Array) -> str | None:
    """Return the objection that the rate per thread grows by more than noise between two thread counts, if so."""
    counts = np.unique(threads)
    yields = [rates[threads == count] / count for count in counts]
    repeats = len(rates) - len(counts)
    pairs = list(itertools.combinations(range(len(counts)), 2))
    squares = sum(float(np.sum((values / values.mean() - 1) ** 2)) for values in yields)
    # a chance of 1 % for all pairs together (Bonferroni)
    noise = stdtrit(repeats, 1 - 0.01 / len(pairs)) * math.sqrt(squares / repeats) if repeats else TOLERANCE
    for few, many in pairs:
        growth = yields[many].mean() / yields[few].mean() - 1
        error = math.sqrt(1 / len(yields[few]) + 1 / len(yields[many])) if repeats else 1
        if growth > max(noise * error, math.sqrt(_NOTHING)):
            return (
                f"From {counts[few]:g} to {counts[many]:g} threads the rate of one thread grows by "
                f"{100 * growth:.0f} %, more than noise: superlinear, so something other than the threads changes."
            )
    return None


def _fit(threads: Array, rates: Array) -> Fit | str:
    scale = float(rates.mean())
    yields = rates / scale / threads  # scaled by their mean, so that all columns of a fit have a similar size
    pairs = threads * (threads - 1)
    weights, squares = _least(yields, np.ones_like(threads), threads, pairs)
    apart, serial, pairwise = (float(weight) for weight in weights)
    one = apart + serial
    if one < _NOTHING:
        return "The rates fall so steeply that the law gives no rate for one thread."
    sigma, kappa = serial / one, pairwise / one
    residuals = yields * (one + serial * (threads - 1) + pairwise * pairs) - 1
    residual = math.sqrt(float(np.mean([group.mean() ** 2 for group in _grouped(threads, residuals)])))
    if reason := _unconvincing(threads, yields, squares, residual):
        return reason
    if (error := _error(threads, residuals)) is None:
        return Fit(Estimate(scale / one), Estimate(sigma), Estimate(kappa), None, False, residual)
    variance, freedom, is_off = error
    limit = squares + max(float(stdtrit(freedom, (1 + _LEVEL) / 2)) ** 2 * variance, _NOTHING)

    def ends(low: float, high: float, value: float, *columns: Callable[[float], Array]) -> _Ends:
        return _ends(lambda fixed: _least(yields, *(column(fixed) for column in columns))[1], value, limit, (low, high))

    one_ends = _ends(lambda fixed: _squares_at_one(threads, yields, fixed), one, limit, (0, math.inf))
    kappa_ends = ends(0, math.inf, kappa, lambda fixed: 1 + fixed * pairs, lambda fixed: threads + fixed * pairs)
    peak = None
    if kappa_ends[0] and not is_off:
        at = max(math.sqrt(apart / pairwise), 1.0)
        # kappa = (1 - sigma) / peak^2
        peak = Estimate(at, *ends(1, math.inf, at, lambda fixed: 1 + pairs / fixed**2, lambda _: threads))
    return Fit(
        Estimate(scale / one, *(scale / end if end else None for end in reversed(one_ends))),
        Estimate(sigma, *ends(0, 1, sigma, lambda fixed: 1 + fixed * (threads - 1), lambda _: pairs)),
        Estimate(kappa, *kappa_ends),
        peak,
        is_off,
        residual,
    )


def _unconvincing(threads: Array, yields: Array, squares: float, residual: float) -> str | None:
    """Return the objection to a fit, if any; `squares` sums its squared relative errors, `residual` is their size."""
    if residual > WORST_RESIDUAL:
        return f"The law misses the rates by {100 * residual:.0f} %: they do not follow it."
    rates = yields * threads
    flat = bool(rates.max() < (1 + TOLERANCE) * rates.min())
    if len(rates) > PARAMETERS:
        flat = _least(yields, threads)[1] / (len(rates) - 1) <= squares / (len(rates) - PARAMETERS)
    return "A constant fits the rates as well as the law: they do not show that threads matter." if flat else None


def _error(threads: Array, residuals: Array) -> tuple[float, int, bool] | None:
    """Return the variance of one run's relative error, its degrees of freedom, and whether the law is refuted at 1 %.

    None if there are no degrees of freedom. If the law misses the means by more than the runs scatter (lack of fit),
    these misses are the error, else all residuals. The F test between the two is at 25 %, as advised before pooling
    (Bozivich, Bancroft and Hartley, "Power of analysis of variance test procedures for certain incompletely specified
    models", 1956).
    """
    counts = np.unique(threads)
    repeats, spare = len(threads) - len(counts), len(counts) - PARAMETERS
    if not repeats + spare:
        return None
    squares = float(np.sum(residuals**2))
    pure = sum(float(np.sum((group - group.mean()) ** 2)) for group in _grouped(threads, residuals))
    if repeats and spare:
        lack = (squares - pure) / spare
        if lack > fdtri(spare, repeats, 0.75) * pure / repeats:
            return lack, spare, bool(lack > fdtri(spare, repeats, 0.99) * pure / repeats)
    return squares / (repeats + spare), repeats + spare, False


def _grouped(threads: Array, values: Array) -> list[Array]:
    return [values[threads == count] for count in np.unique(threads)]


def _least(yields: Array, *columns: Array) -> tuple[Array, float]:
    """Return the non-negative weights of `columns` in N / X(N) and the least sum of squared relative errors."""
    weights, norm = nnls(np.column_stack(columns) * yields[:, None], np.ones_like(yields))
    return weights, float(norm) ** 2


def _squares_at_one(threads: Array, yields: Array, yield_of_one: float) -> float:
    """Return the least squares at a fixed rate of one thread; `yield_of_one` is 1/lambda."""
    serial = yields * (threads - 1)
    pairwise, left = serial * threads, 1 - yield_of_one * yields
    weights, norm = nnls(np.column_stack([serial, pairwise]), left)
    if weights[0] > yield_of_one:  # sigma stays within 1
        norm = nnls(pairwise[:, None], left - yield_of_one * serial)[1]
    return float(norm) ** 2


def _ends(squares_at: Callable[[float], float], estimate: float, limit: float, bounds: tuple[float, float]) -> _Ends:
    """Return the profile-likelihood interval, at whose ends the least squares at a fixed value reach `limit`.

    It is a single interval, as each profiled value is a ratio of linear functions of parameters in a convex set.
    """

    def excess(value: float) -> float:
        return squares_at(value) - limit

    def end(bound: float) -> float | None:
        if math.isinf(bound):
            bound = max(2 * estimate, _SMALLEST)
            while excess(bound) <= 0:
                bound *= 2
                if bound > _LARGEST:
                    return None
        return bound if excess(bound) <= 0 else float(brentq(excess, estimate, bound, xtol=1e-12))

    return end(bounds[0]), end(bounds[1])
