"""The interval of a capacity: what it covers, what it leaves out, and how many runs it takes to see a difference."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.coverage import coverage, simulated, student
from inference.location import (
    DIP_LEVEL,
    TABULATED_RUNS,
    Constants,
    constants,
    detectable_stdevs,
    dip_stdevs,
    runs_needed,
    undisturbed,
)

SEED = Path(__file__).parents[2] / "seeds" / "interval_constants.csv"
SETS = 40_000  # the standard error of a coverage is 0.11 %
EVERY_RUNS = (*range(3, 31), 35, 40, 45, 50, 55, 60)

rates = st.lists(st.floats(1, 1e6), min_size=1, max_size=30)


def covered(runs: int, *, dips: bool) -> float:
    return coverage(undisturbed(simulated(np.random.default_rng(runs), SETS, runs, dips=dips)).interval())


@pytest.mark.parametrize("runs", [5, 9, 10, 30])
def test_the_interval_covers_the_undisturbed_capacity_in_94_to_96_percent_of_clean_sets(runs):
    assert 0.94 <= covered(runs, dips=False) <= 0.96


@pytest.mark.parametrize("runs", [5, 9, 10, 30])
def test_the_interval_covers_the_undisturbed_capacity_although_runs_dip(runs):
    assert covered(runs, dips=True) >= 0.94


@pytest.mark.parametrize("runs", EVERY_RUNS)
def test_no_number_of_runs_is_a_cliff(runs):
    assert 0.935 <= covered(runs, dips=False) <= 0.965
    assert covered(runs, dips=True) >= 0.935


def test_without_dips_the_interval_is_as_wide_as_students_and_with_dips_half_as_wide():
    widths = {}
    for dips in (False, True):
        sets = simulated(np.random.default_rng(9), SETS, 9, dips=dips)
        ours, classic = undisturbed(sets).interval(), student(sets)
        widths[dips] = np.mean(ours[1] - ours[0]) / np.mean(classic[1] - classic[0])
    assert widths[False] == pytest.approx(1, abs=0.01)
    assert widths[True] < 0.65


@pytest.mark.parametrize("runs", [4, 5, 9, 30])
def test_in_clean_sets_a_dip_is_seen_about_as_rarely_as_promised(runs):
    found = undisturbed(simulated(np.random.default_rng(runs), SETS, runs, dips=False)).dipping > 0
    assert found.mean() <= 2.5 * DIP_LEVEL  # a set of several low runs is one more chance


def test_without_a_dip_the_interval_is_scipys():
    runs = [12_100.0, 11_900.0, 12_050.0, 12_300.0, 11_700.0]
    low, high = undisturbed(runs).interval()
    assert (float(low), float(high)) == pytest.approx(stats.t.interval(0.95, 4, np.mean(runs), stats.sem(runs)))


@pytest.mark.parametrize(
    ("runs", "resolution", "dipping"),
    [
        ([1000, 1010, 990, 1005, 700], 0, 1),
        ([1000, 1010, 990, 1005, 700], 10, 1),
        ([1000, 1010, 990, 1005, 700], 400, 0),  # one step of the ramp
        ([1000, 1010, 990, 1005, 1015, 1020, 1025, 700, 705], 100, 2),  # two dips do not hide each other
        ([1000, 1010, 990, 1005, 1300], 0, 0),  # disturbances never make a run faster
        ([1000, 1010, 700], 0, 0),  # three runs bear no test
        ([1000, 1000, 1000, 1000, 700], 0, 0),  # no spread, no test
        ([1000, 1001, 700, 701], 0, 0),  # half of the runs are no minority
        ([1000], 0, 0),
    ],
)
def test_a_run_dips_if_it_lies_too_far_below_the_others(runs, resolution, dipping):
    found = undisturbed(runs, resolution)
    assert found.dipping == dipping
    assert found.runs == len(runs) - dipping
    assert found.mean == pytest.approx(np.mean(sorted(runs)[dipping:]))


def test_the_limit_of_a_dip_is_the_outlier_test_of_grubbs():
    # The lowest of n as deviation from the mean of all, in their standard deviation, at the level of Bonferroni.
    runs = 9
    t = stats.t.isf(DIP_LEVEL / runs, runs - 2)
    grubbs = (runs - 1) / math.sqrt(runs) * math.sqrt(t**2 / (runs - 2 + t**2))
    others = np.array([-1.5, -1, -0.5, -0.2, 0.2, 0.5, 1, 1.5])
    lowest = others.mean() - dip_stdevs(runs) * others.std(ddof=1)
    together = np.append(others, lowest)
    assert (together.mean() - lowest) / together.std(ddof=1) == pytest.approx(grubbs)


@pytest.mark.parametrize("rates", [[], [[]], [1000, math.nan], [1000, math.inf]])
def test_what_is_no_set_of_runs_is_refused(rates):
    with pytest.raises(ValueError, match="expected at least one run, each with a finite rate"):
        undisturbed(rates)


@given(rates)
def test_every_run_is_either_kept_or_dips_and_the_interval_contains_its_centre(runs):
    found = undisturbed(runs)
    assert found.runs + found.dipping == len(runs)
    assert found.runs > found.dipping
    if len(runs) > 1:
        low, high = found.interval()
        assert 0 <= low <= found.mean <= high


@given(rates, st.randoms(use_true_random=False))
def test_the_order_of_the_runs_does_not_matter(runs, random):
    shuffled = random.sample(runs, len(runs))
    assert undisturbed(shuffled).dipping == undisturbed(runs).dipping


def power(runs: int, stdevs: float) -> float:
    degrees, noncentrality = 2 * runs - 2, stdevs * math.sqrt(runs / 2)
    return float(stats.nct.sf(stats.t.ppf(0.975, degrees), degrees, noncentrality))


@pytest.mark.parametrize("runs", [3, 5, 9, 30, 200])
def test_the_detectable_difference_has_80_percent_power_in_simulated_tests(runs):
    assert power(runs, detectable_stdevs(runs)) == pytest.approx(0.8, abs=1e-6)
    noise = np.random.default_rng(runs)
    one, other = noise.normal(0, 1, (4_000, runs)), noise.normal(detectable_stdevs(runs), 1, (4_000, runs))
    found = stats.ttest_ind(one, other, axis=1).pvalue <= 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.025)


@pytest.mark.parametrize(("variation", "change"), [(0.02, 0.05), (0.02, 0.02), (0.02, 0.01), (0.05, 0.02), (0.2, 0.01)])
def test_the_runs_needed_are_the_fewest_with_80_percent_power(variation, change):
    runs = runs_needed(variation, change)
    assert power(runs, change / variation) >= 0.8 - 1e-4
    assert power(runs - 1, change / variation) < 0.8


def test_runs_without_spread_show_any_change():
    assert runs_needed(0, 0.01) == 2


def test_a_change_of_nothing_is_refused():
    with pytest.raises(ValueError, match="expected one of at least 0 and one above 0"):
        runs_needed(0.02, 0)


def test_the_seed_holds_the_constants():
    with SEED.open(encoding="utf-8") as file:
        rows = [
            Constants(
                int(row["runs"]),
                float(row["dip_stdevs"]) if row["dip_stdevs"] else None,
                float(row["detectable_stdevs"]),
            )
            for row in csv.DictReader(file)
        ]
    assert [row.runs for row in rows] == list(range(2, TABULATED_RUNS + 1))
    for row, expected in zip(rows, constants(), strict=True):
        assert row.detectable_stdevs == pytest.approx(expected.detectable_stdevs, rel=1e-9)
        assert row.dip_stdevs == (expected.dip_stdevs and pytest.approx(expected.dip_stdevs, rel=1e-9))
