"""How often intervals contain the truth and verdicts are right, for simulated servers whose truth is known.

Simulated ramps go through the models' SQL (`macros/`); tests/models/test_known_process.py goes the whole way, through a
lake and a build. Run it with `python -m benchmarks.coverage`; `--calibrate` instead writes the seed of constants that
the models read.
"""

from __future__ import annotations

import csv
import math
import sys
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
from rich.progress import track
from scipy import optimize, stats

from benchmarks.plots import publish, table
from benchmarks.ramps import CLIFF, LIMIT, SHAPES, judged_steps, trials_of
from dropline.measure.macros import ROOT, looked_up, sql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Draw = Callable[[np.random.Generator, tuple[int, int], float], Floats]

SETS: Final = 1_000
NOISE: Final = 0.02
STEPS: Final = (0.02, 0.05, 0.10, 0.16)
RUNS: Final = (3, 5, 9, 30)
TRUTH: Final = 1 - LIMIT  # the rate answered where the loss reaches the limit; all servers reach it at 1
MIDDLE: Final = "logistic, width 10 %"
WORST: Final = "goodput collapse"
FASTER: Final = 1.10
ENDS: Final = (0.97, 1.0, 1.03)  # where a ramp that ends too soon ends

DIP_LEVEL: Final = 0.002  # share of undisturbed sets whose lowest run is classified as a dip
TABULATED_RUNS: Final = 200


class Capacities(NamedTuple):
    """The models' result for each set of runs, shape (sets,); an open upper end is infinite.

    Attributes:
        low, high: ends of the interval or bracket.
        is_confidence: whether it is an interval.
    """

    low: Floats
    high: Floats
    is_confidence: NDArray[np.bool_]

    def coverage(self, truth: float = TRUTH) -> float:
        """Return the share that contains the truth."""
        return float(np.mean((self.low <= truth) & (self.high >= truth)))


class Ratios(NamedTuple):
    """The share of pairs called faster and slower, and of those whose known end or ends exclude the true ratio."""

    faster: float
    slower: float
    misses: float


def main() -> None:
    """Simulate and write benchmarks/results/coverage.md, or write the seed of constants."""
    if "--calibrate" in sys.argv[1:]:
        _write_constants()
        return
    parts = (
        _introduction,
        _shapes,
        _noise,
        _disturbances,
        _exchanges,
        _failures,
        _sessions,
        _campaigns,
        _pairs,
        _unequal_runs,
        _ending_too_soon,
    )
    publish("coverage", "\n\n".join(part() for part in parts) + "\n")


def judged(
    sustained: Floats,
    step: float,
    shape: str,
    noise: np.random.Generator,
    last: Floats | float = np.inf,
    second: float = 0,
    failing: float = 0,
    session: int = 1,
) -> duckdb.DuckDBPyConnection:
    """Run ramps and judge them with the models' SQL: tables run_capacity and capacity.

    Args:
        sustained: shape (sets, runs): offered rate, around 1, at which each run's loss reaches the limit. The runs
            of a set are consecutive and share a ramp with a random grid.
        step: distance of the offered rates.
        shape: one of SHAPES, or CLIFF.
        noise: of single trials and of the grid.
        last: where the ramps end, at the latest; broadcast to `sustained`.
        second: what a second exchange loses, divided by what the first does.
        failing: share of trials, at any rate, that lose a further 5 to 30 %.
        session: how many runs in turn share a session.
    """
    phase = noise.uniform(0, 1, (len(sustained), 1))
    runs, offered, loss = trials_of(noise, sustained, step, phase, shape)
    if failing:
        loss = 1 - (1 - loss) * (1 - (noise.random(loss.size) < failing) * noise.uniform(0.05, 0.3, loss.size))
    trials = pa.table({"run_id": runs, "offered_rate": offered, "loss_ratio": loss})
    trials = trials.filter(pa.array(offered <= np.broadcast_to(last, sustained.shape).ravel()[runs]))
    connection = duckdb.connect()
    connection.register("trials", trials)
    connection.execute(looked_up())
    steps_judged = f"""
        create table run_capacity as
        with {judged_steps(second)},
        {sql("run_brackets")}
        select * from run_capacities
    """  # noqa: S608 - the text is ours
    runs_judged = f"""
        create table capacity as
        with rated_runs as (
            select
                *, run_id // {sustained.shape[1]} as configuration_id, 'simulated' as campaign, run_id as started_at,
                run_id // {session} as session,
                null as discard_lowest, null as discard_highest, null as discard_from_runs
            from run_capacity
        ),
        {sql("capacities_of_runs")}
        select * from with_bounds
    """  # noqa: S608 - the text is ours
    connection.execute(steps_judged)
    connection.execute(runs_judged)
    return connection


def capacities(connection: duckdb.DuckDBPyConnection) -> Capacities:
    """Return the models' results for sets of runs from what `judged` returns, and close it."""
    with connection:
        found = connection.execute("""
            select ci_low, coalesce(ci_high, 'inf'::double) as ci_high, interval_kind = 'confidence' as is_confidence
            from capacity order by configuration_id
        """).fetchnumpy()
    return Capacities(*(np.ma.filled(found[name], np.nan) for name in ("ci_low", "ci_high", "is_confidence")))


def ratios(
    sustained: Floats,
    ratio: float,
    step: float,
    shape: str,
    noise: np.random.Generator,
    last: Floats | float = np.inf,
    session: int = 1,
    campaigns: int = 2,
) -> Ratios:
    """Compare the last set of each series of `campaigns`, `ratio` times as fast, with the one before."""
    factors = np.tile([1.0] * (campaigns - 1) + [ratio], len(sustained) // campaigns)[:, None]
    compared = f"""
        with placed as (
            select *, configuration_id // {campaigns} as series_id, configuration_id as number from capacity
        ),
        {sql("variations_of_series")},
        pairs as (
            select
                treatment.loss_goal, treatment.rate as treatment_rate, baseline.rate as baseline_rate,
                {sql("crossings_of", "treatment")}, {sql("crossings_of", "baseline")},
                series_variation, series_campaigns
            from capacity as treatment
            inner join capacity as baseline on treatment.configuration_id = baseline.configuration_id + 1
            left join varying on treatment.configuration_id = varying.configuration_id
            where treatment.configuration_id % {campaigns} = {campaigns} - 1
        ),
        {sql("tested_pairs_from_pairs")}
        select {sql("comparison_verdict", "p_value")} as verdict, ci_low > {ratio} or ci_high < {ratio} as misses
        from tested_pairs
    """  # noqa: S608 - the text is ours
    with judged(sustained * factors, step, shape, noise, last, session=session) as connection:
        found = connection.execute(compared).fetchnumpy()
    verdicts, misses = found["verdict"], np.ma.filled(found["misses"], fill_value=False)
    return Ratios(*(float(np.mean(each)) for each in (verdicts == "faster", verdicts == "slower", misses)))


def _introduction() -> str:
    return f"""# Do intervals hold the truth, and are verdicts right?

Written by `python -m benchmarks.coverage`. Servers whose rate at a loss of 2.5 % is known are ramped up; the models'
own SQL judges the trials, nothing is corrected. {SETS:,} sets of runs a cell, so that a share near 95 % has a standard
error of {100 * math.sqrt(0.05 * 0.95 / SETS):.1f} points. The rate of a run varies by 2 % unless something else is
said, that of a trial by 0.5 % more. Each set has a ramp of its own, whose grid begins anywhere.

The loss grows over the offered rate in six shapes: logistic (three widths), hinge (what is above the capacity is lost),
goodput collapse (as much again is lost of what was served before), and an M/M/1 queue of 64 places."""


def _shapes() -> str:
    noise = np.random.default_rng(2544)
    rows = []
    for step, runs in track([(step, runs) for step in STEPS for runs in RUNS], "Loss shapes"):
        found = [capacities(judged(_normal(noise, runs), step, shape, noise)) for shape in SHAPES]
        widths = [np.median(each.high - each.low) / TRUTH for each in found]
        shares = [f"{each.coverage():.1%}" for each in found]
        intervals = np.mean([each.is_confidence.mean() for each in found])
        habit = _last_passing_coverage(noise, runs, step)
        rows.append([f"{step:.0%}", f"{runs}", *shares, f"{intervals:.0%}", f"{np.mean(widths):.1%}", f"{habit:.0%}"])
    return (
        "## By loss shape and step\n\nShare of intervals and brackets that hold the truth; how many of them are "
        "intervals; mean over the shapes of the median width. The last column is what Student's interval of the last "
        "passing steps, the field's habit, would hold with the logistic loss of 10 %.\n\n"
        + table(["step", "runs", *SHAPES, "intervals", "width", "last passing step"], rows)
    )


def _last_passing_coverage(noise: np.random.Generator, runs: int, step: float) -> float:
    with judged(_normal(noise, runs), step, MIDDLE, noise) as connection:
        rates = connection.execute("select rate from run_capacity order by run_id").fetchnumpy()["rate"]
    sets = np.ma.filled(rates, np.nan).reshape(-1, runs)
    low, high = stats.t.interval(0.95, runs - 1, sets.mean(axis=1), stats.sem(sets, axis=1))
    return float(np.mean((low <= TRUTH) & (high >= TRUTH)))


def _noise() -> str:
    noise = np.random.default_rng(1908)
    rows = []
    for shape in (MIDDLE, WORST, CLIFF):
        for step in STEPS:
            cells = [
                capacities(judged(1 + spread * (_normal(noise, runs) - 1) / NOISE, step, shape, noise)).coverage()
                for spread in (0.01, 0.04, 0.06)
                for runs in (5, 9, 30)
            ]
            rows.append([shape, f"{step:.0%}", *(f"{cell:.1%}" for cell in cells)])
    head = [f"{spread} %, {runs} runs" for spread in (1, 4, 6) for runs in (5, 9, 30)]
    said = "A cliff loses nothing up to its capacity and 40 % beyond."
    return f"## By noise between runs\n\n{said}\n\n" + table(["shape", "step", *head], rows)


def _disturbances() -> str:
    noise = np.random.default_rng(1983)
    rows = []
    for name, draw in DISTURBANCES.items():
        cells = [
            capacities(judged(draw(noise, (SETS, runs), spread), 0.05, MIDDLE, noise)).coverage()
            for spread in (0.02, 0.04)
            for runs in (5, 9, 30)
        ]
        rows.append([name, *(f"{cell:.1%}" for cell in cells)])
    head = [f"{spread} %, {runs} runs" for spread in (2, 4) for runs in (5, 9, 30)]
    return (
        "## When runs are neither normal nor independent\n\nSteps of 5 %, logistic loss of 10 %. Truth is the "
        "mean of the runs, without what dips take away.\n\n" + table(["runs", *head], rows)
    )


def _exchanges() -> str:
    noise = np.random.default_rng(2131)
    rows = []
    for second in (0.25, 0.5, 1):
        truth = TRUTH * (1 - second * LIMIT)
        for step in STEPS:
            found = [capacities(judged(_normal(noise, 9), step, shape, noise, second=second)) for shape in SHAPES]
            rows.append([f"{second:g}", f"{step:.0%}", *(f"{each.coverage(truth):.1%}" for each in found)])
    return (
        "## When both exchanges lose\n\nWhat the second exchange of DHCP loses, divided by the first's loss; nine "
        "runs. Truth is the leases per second completed where the first exchange's loss reaches the limit.\n\n"
        + table(["second", "step", *SHAPES], rows)
    )


def _failures() -> str:
    noise = np.random.default_rng(1985)
    rows = []
    for failing in (0.01, 0.03, 0.1):
        for step in STEPS:
            found = [capacities(judged(_normal(noise, n), step, MIDDLE, noise, failing=failing)) for n in (3, 5, 9)]
            shares = [f"{each.coverage():.1%}" for each in found]
            widths = [f"{np.median(each.high - each.low) / TRUTH:.1%}" for each in found]
            rows.append([f"{failing:.0%}", f"{step:.0%}", *shares, *widths])
    return (
        "## When single trials fail\n\nShare of trials, at any rate, that lose a further 5 to 30 %: a neighbour, a "
        "checkpoint. Logistic loss of 10 %; share of ranges that hold the truth, and their median width.\n\n"
        + table(["failing", "step", *(f"{w}, {n} runs" for w in ("holds", "width") for n in (3, 5, 9))], rows)
    )


def _sessions() -> str:
    noise = np.random.default_rng(2024)
    rows = []
    for sessions, runs in track([(n, m) for n in (2, 3, 5, 8) for m in (2, 3, 5)], "Sessions"):
        cells = []
        for differing in (0, 0.5, 1, 2):
            sustained = partial(_in_sessions, noise, sessions, runs, differing)
            found = capacities(judged(sustained(), 0.02, MIDDLE, noise, session=runs))
            equal = ratios(sustained(), 1, 0.02, MIDDLE, noise, session=runs)
            width = np.median(found.high - found.low) / TRUTH
            cells.append(f"{found.coverage():.1%} / {width:.1%} / {equal.faster + equal.slower:.1%}")
        rows.append([f"{sessions}", f"{runs}", *cells])
    return (
        "## When runs share sessions\n\nSteps of 2 %, logistic loss of 10 %. Runs of a session vary by 2 %, the "
        "sessions by 0 to 2 times as much. Share of ranges that hold the mean of all sessions to come / their median "
        "width / how many of two equal servers, measured in different sessions, are called faster or slower.\n\n"
        + table(["sessions", "runs in each", "0", "0.5", "1", "2"], rows)
    )


def _campaigns() -> str:
    noise = np.random.default_rng(1993)
    rows = []
    for campaigns, runs in track([(n, m) for n in (2, 5, 8, 12, 30) for m in (1, 3, 5)], "Campaigns"):
        cells = []
        for differing in (0, 0.5, 1, 2):
            sets = partial(_in_sessions, noise, 1, runs, differing, SETS * campaigns)
            pairs = partial(ratios, step=0.02, shape=MIDDLE, noise=noise, session=runs, campaigns=campaigns)
            equal, slower = pairs(sets(), 1), pairs(sets(), 1 / FASTER)
            cells.append(f"{equal.faster + equal.slower:.1%} / {slower.slower:.1%}")
        rows.append([f"{campaigns}", f"{runs}", *cells])
    return (
        "## When campaigns differ\n\nSteps of 2 %, logistic loss of 10 %. Each campaign is one night; its runs vary by "
        "2 %, the nights by 0 to 2 times as much. The last campaign of a series is compared with the one before: share "
        f"of equal servers called faster or slower / of servers {1 - 1 / FASTER:.0%} slower called slower.\n\n"
        + table(["campaigns", "runs in each", "0", "0.5", "1", "2"], rows)
    )


def _in_sessions(noise: np.random.Generator, sessions: int, runs: int, differing: float, sets: int = SETS) -> Floats:
    levels = np.repeat(noise.normal(0, differing * NOISE, (sets, sessions)), runs, axis=1)
    return _normal(noise, sessions * runs, sets) + levels


def _normal(noise: np.random.Generator, runs: int, sets: int = SETS) -> Floats:
    return noise.normal(1, NOISE, (sets, runs))


def _autoregressive(correlation: float) -> Draw:
    def draw(noise: np.random.Generator, shape: tuple[int, int], spread: float) -> Floats:
        runs = noise.standard_normal(shape)
        for run in range(1, shape[1]):
            runs[:, run] = correlation * runs[:, run - 1] + math.sqrt(1 - correlation**2) * runs[:, run]
        return 1 + spread * runs

    return draw


def _dips(probability: float) -> Draw:
    def draw(noise: np.random.Generator, shape: tuple[int, int], spread: float) -> Floats:
        depth = np.where(noise.random(shape) < probability, noise.uniform(0.1, 0.3, shape), 0)
        rates: Floats = noise.normal(1, spread, shape) * (1 - depth)
        return rates

    return draw


def _levels(share: float, distance: float) -> Draw:
    def draw(noise: np.random.Generator, shape: tuple[int, int], spread: float) -> Floats:
        levels = np.where(noise.random(shape) < share, 1 - distance, 1)
        rates: Floats = noise.normal(1, spread, shape) * levels
        return rates

    return draw


UNEQUAL: Final[dict[str, Draw]] = {
    **{
        f"{share:.0%} of the runs {distance:.0%} below": _levels(share, distance)
        for distance in (0.12, 0.3)
        for share in (0.2, 0.3, 0.5)
    },
    "5 % dip by 10 to 30 %": _dips(0.05),
    "15 % dip by 10 to 30 %": _dips(0.15),
}
DISTURBANCES: Final[dict[str, Draw]] = {
    "normal": lambda noise, shape, spread: noise.normal(1, spread, shape),
    "left skew 1 (gamma 4)": lambda noise, shape, spread: 1 + spread * (4 - noise.gamma(4, size=shape)) / 2,
    "left skew 2 (exponential)": lambda noise, shape, spread: 1 + spread * (1 - noise.exponential(size=shape)),
    "right skew 2": lambda noise, shape, spread: 1 + spread * (noise.exponential(size=shape) - 1),
    "two hosts, half and half": lambda noise, shape, spread: (
        1 + spread * (0.9 * noise.choice([-1, 1], shape) + math.sqrt(1 - 0.9**2) * noise.standard_normal(shape))
    ),
    "correlated by 0.3": _autoregressive(0.3),
    "correlated by 0.6": _autoregressive(0.6),
    "5 % dip by 10 to 30 %": _dips(0.05),
    "15 % dip by 10 to 30 %": _dips(0.15),
}


def _pairs() -> str:
    noise = np.random.default_rng(1947)
    rows = []
    for step, runs in track([(step, runs) for step in STEPS for runs in (5, 9, 30)], "Pairs"):
        cells = [_called(partial(_normal, noise, runs), step, shape, noise) for shape in SHAPES]
        rows.append([f"{step:.0%}", f"{runs}", *cells])
    return (
        f"## Verdicts\n\n{SETS // 2} pairs a cell, each side with a ramp of its own: how many of two equal servers are "
        "called faster or slower / how many that are 10 % faster are called faster.\n\n"
        + table(["step", "runs", *SHAPES], rows)
    )


def _called(draw: Callable[[], Floats], step: float, shape: str, noise: np.random.Generator) -> str:
    """Return how many of two equal servers are called different, and how many faster ones faster."""
    equal, faster = (ratios(draw(), ratio, step, shape, noise) for ratio in (1, FASTER))
    return f"{equal.faster + equal.slower:.1%} / {faster.faster:.0%}"


def _unequal_runs() -> str:
    noise = np.random.default_rng(1983)
    rows = []
    for name, draw in track(UNEQUAL.items(), "Unequal runs"):
        drawn = (partial(draw, noise, (SETS, runs), NOISE) for runs in (5, 9, 12, 30))
        rows.append([name, *(_called(each, 0.05, MIDDLE, noise) for each in drawn)])
    return (
        "## Verdicts when runs are not alike\n\nAs above, steps of 5 %, logistic loss of 10 %. Servers of two levels "
        "have these shares of runs at the lower one, at random: of equal servers, one can have more of them.\n\n"
        + table(["runs", *(f"{runs} runs" for runs in (5, 9, 12, 30))], rows)
    )


def _ending_too_soon() -> str:
    noise = np.random.default_rng(1876)
    rows = []
    for step, runs in track([(step, runs) for step in STEPS for runs in (3, 5, 9)], "Ramps that end too soon"):
        alone, pairs = [], []
        for last in ENDS:
            ended = (capacities(judged(_normal(noise, runs), step, each, noise, last)) for each in SHAPES)
            alone.append(min(each.coverage() for each in ended))
            only_one = np.where(np.arange(SETS) % 2, np.inf, last)[:, None]  # the baseline
            found = [ratios(_normal(noise, runs), FASTER, step, each, noise, only_one) for each in SHAPES]
            pairs.append(max(each.misses for each in found))
        rows.append([f"{step:.0%}", f"{runs}", *(f"{share:.1%}" for share in (*alone, *pairs))])
    head = [f"{what}, to {last:g}" for what in ("holds", "misses") for last in ENDS]
    return (
        "## When a ramp ends too soon\n\nRamps that end at 0.97, 1 and 1.03 of the rate at which the loss reaches the "
        "limit. Holds: share of open and closed ranges that hold the truth. Misses: share of pairs whose known end "
        "excludes the true ratio; only the baseline's ramp ends too soon. Each is the worst of the six shapes.\n\n"
        + table(["step", "runs", *head], rows)
    )


def _write_constants() -> None:
    """Write seeds/interval_constants.csv; ten digits are more than any simulation can distinguish."""
    with (ROOT / "seeds" / "interval_constants.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("runs", "dip_stdevs", "detectable_stdevs"))
        writer.writerows(["" if value is None else f"{value:.10g}" for value in row] for row in _constants())


def _constants() -> Iterator[tuple[int, float | None, float]]:
    for runs in range(2, TABULATED_RUNS + 1):
        yield runs, _dip_stdevs(runs), _detectable_stdevs(runs)


def _dip_stdevs(runs: int) -> float | None:
    """Return how far the lowest run must be below the mean of the others to be a dip, in their standard deviations.

    The lowest of normal runs is that low with probability DIP_LEVEL at most (Grubbs' test by Bonferroni's bound;
    NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.17). None below four runs: a single low run cannot be
    distinguished from spread.
    """
    if runs < 4:
        return None
    return float(stats.t.isf(DIP_LEVEL / runs, runs - 2) * math.sqrt(1 + 1 / (runs - 1)))


def _detectable_stdevs(runs: int) -> float:
    """Return the smallest difference between two sets of `runs` detectable at 80 % power, in stdevs of a run.

    The test is Student's, two-sided at 5 %; the power is the noncentral t's (J. Cohen, Statistical Power Analysis for
    the Behavioral Sciences, 2nd ed. 1988, ch. 2).
    """
    degrees, scale = 2 * runs - 2, math.sqrt(runs / 2)
    threshold = stats.t.ppf(0.975, degrees)
    near = (threshold + stats.t.ppf(0.8, degrees)) / scale
    return float(
        optimize.brentq(lambda stdevs: stats.nct.cdf(threshold, degrees, stdevs * scale) - 0.2, 0.9 * near, 1.1 * near)
    )


if __name__ == "__main__":
    main()
