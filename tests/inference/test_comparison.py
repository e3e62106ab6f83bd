"""Ratios, rank tests and verdicts, against scipy, by hand and by simulation."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.coverage import coverage, simulated
from inference.comparison import (
    EXACT_LARGER,
    EXACT_SMALLER,
    exact_p_values,
    exact_table,
    holm,
    rank_test,
    ratio_interval,
    verdict,
)

SEED = Path(__file__).parents[2] / "seeds" / "mann_whitney.csv"
SETS = 40_000
SIZES = [(2, 2), (3, 3), (4, 7), (5, 5), (8, 20), (9, 9), (10, 30), (8, 21)]

few_rates = st.lists(st.integers(1, 12).map(float), min_size=2, max_size=12)


def covered(treatment: int, baseline: int, *, dips: bool) -> float:
    noise = np.random.default_rng([treatment, baseline])
    sides = (simulated(noise, SETS, runs, dips=dips) for runs in (treatment, baseline))
    found = ratio_interval(*sides)
    return coverage((found.low, found.high))


@pytest.mark.parametrize(("treatment", "baseline"), [(5, 5), (9, 9), (10, 30)])
def test_the_interval_of_a_ratio_covers_the_true_ratio(treatment, baseline):
    assert 0.94 <= covered(treatment, baseline, dips=False) <= 0.96
    assert covered(treatment, baseline, dips=True) >= 0.94


def test_the_interval_of_a_ratio_is_close_to_welchs_on_logarithms():
    noise = np.random.default_rng(1947)
    treatment, baseline = noise.normal(2000, 40, 9), noise.normal(1000, 50, 9)
    welch = stats.ttest_ind(np.log(treatment), np.log(baseline), equal_var=False).confidence_interval(0.95)
    found = ratio_interval(treatment, baseline)
    assert (found.low, found.high) == (
        pytest.approx(np.exp(welch.low), rel=3e-3),
        pytest.approx(np.exp(welch.high), rel=3e-3),
    )


def test_the_interval_of_the_inverse_ratio_is_the_inverse_interval():
    one, other = [1000, 1010, 990, 1005], [2100, 2000, 2050]
    found, inverse = ratio_interval(one, other), ratio_interval(other, one)
    assert (1 / inverse.high, 1 / inverse.low) == (pytest.approx(found.low), pytest.approx(found.high))


def test_one_run_on_a_side_gives_a_ratio_but_no_interval():
    found = ratio_interval([2000, 2010], [1000])
    assert found.ratio == pytest.approx(2.005)
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_runs_that_are_all_alike_on_both_sides_give_no_interval():
    found = ratio_interval([2000.1] * 5, [1000.1] * 5)
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def distinct(noise: np.random.Generator, sizes: tuple[int, int]) -> tuple[list[float], list[float]]:
    return noise.normal(0, 1, sizes[0]).tolist(), noise.normal(0.7, 1, sizes[1]).tolist()


@pytest.mark.parametrize("sizes", [sizes for sizes in SIZES if sizes != (8, 21)])
@pytest.mark.parametrize("seed", range(5))
def test_without_ties_the_rank_test_is_scipys(sizes, seed):
    treatment, baseline = distinct(np.random.default_rng(seed), sizes)
    found, scipys = rank_test(treatment, baseline), stats.mannwhitneyu(treatment, baseline)
    assert (found.u, found.p_value) == (pytest.approx(scipys.statistic), pytest.approx(scipys.pvalue, rel=1e-9))


def test_beyond_the_table_the_normal_approximation_is_near_the_exact_p_value():
    treatment, baseline = distinct(np.random.default_rng(1), (8, 21))
    exact = stats.mannwhitneyu(treatment, baseline, method="exact").pvalue
    assert rank_test(treatment, baseline).p_value == pytest.approx(exact, abs=0.01)


@given(few_rates, few_rates)
def test_with_ties_the_rank_test_is_scipys_but_never_below_its_floor(treatment, baseline):
    found = rank_test(treatment, baseline)
    scipys = stats.mannwhitneyu(treatment, baseline)
    expected = 1.0 if np.isnan(scipys.pvalue) else scipys.pvalue
    assert found.u == scipys.statistic
    assert found.p_value == pytest.approx(max(expected, found.p_floor))


@given(few_rates, few_rates)
def test_the_rank_test_of_the_mirror_image_says_the_same(treatment, baseline):
    found, mirrored = rank_test(treatment, baseline), rank_test(baseline, treatment)
    assert found.u + mirrored.u == len(treatment) * len(baseline)
    assert (found.p_value, found.p_floor) == (mirrored.p_value, mirrored.p_floor)
    assert not (found.is_above and mirrored.is_above)


def test_the_exact_distribution_is_what_counting_all_arrangements_gives():
    smaller, larger = 3, 4
    places = range(smaller + larger)
    counts = [0] * (smaller * larger + 1)
    for chosen in itertools.combinations(places, smaller):
        counts[sum(place > other for place in chosen for other in set(places) - set(chosen))] += 1
    tails = list(itertools.accumulate(counts))
    expected = [min(1.0, 2 * tail / tails[-1]) for tail in tails[: smaller * larger // 2 + 1]]
    assert exact_p_values(smaller, larger) == pytest.approx(expected)


@pytest.mark.parametrize(("sizes", "floor"), [((2, 2), 1 / 3), ((3, 3), 0.1), ((4, 4), 2 / 70), ((5, 5), 2 / 252)])
def test_the_floor_is_the_p_value_of_complete_separation(sizes, floor):
    treatment, baseline = [10.0 + run for run in range(sizes[0])], [1.0 + run for run in range(sizes[1])]
    found = rank_test(treatment, baseline)
    assert found.p_floor == pytest.approx(floor)
    assert found.p_value == found.p_floor


def test_ties_cannot_make_three_runs_against_three_evidence():
    tied = [1000.0] * 3, [500.0] * 3
    assert stats.mannwhitneyu(*tied).pvalue < 0.05  # an approximation that no permutation of six runs bears out
    assert rank_test(*tied).p_value == pytest.approx(0.1)


def test_one_run_on_a_side_cannot_be_tested():
    assert rank_test([1000.0], [2000.0, 2010.0]) is None


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([], []),
        ([0.02], [0.02]),
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.5, 0.9], [1.0, 1.0]),
    ],
)
def test_holm_multiplies_by_the_tests_that_are_left_and_never_falls(p_values, adjusted):
    assert holm(p_values) == pytest.approx(adjusted)


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_lies_between_the_p_value_and_bonferronis(p_values):
    for p_value, adjusted in zip(p_values, holm(p_values), strict=True):
        assert p_value <= adjusted <= min(1, len(p_values) * p_value)


LOW, HIGH, MIXED = [1.0, 2.0, 3.0, 4.0, 5.0], [11.0, 12.0, 13.0, 14.0, 15.0], [0.5, 2.5, 3.5, 4.5, 6.0]


@pytest.mark.parametrize(
    ("treatment", "baseline", "tests", "words"),
    [
        (HIGH, LOW, 1, "faster"),
        (LOW, HIGH, 1, "slower"),
        (MIXED, LOW, 1, "no evidence"),
        (MIXED, LOW, 7, "too few runs"),  # 7 x 2 / 252 is above 0.05
        (HIGH[:3], LOW[:3], 1, "too few runs"),
        (HIGH[:1], LOW, 1, "not testable"),
    ],
)
def test_the_verdict_says_what_the_runs_can_say(treatment, baseline, tests, words):
    assert verdict(rank_test(treatment, baseline), tests=tests) == words


def test_the_verdict_heeds_the_correction():
    assert verdict(rank_test(HIGH, LOW), p_value_holm=0.06, tests=6) == "no evidence"


def test_the_seed_holds_the_exact_p_values():
    with SEED.open(encoding="utf-8") as file:
        rows = [
            (int(row["smaller_runs"]), int(row["larger_runs"]), int(row["u"]), float(row["p_value"]))
            for row in csv.DictReader(file)
        ]
    expected = list(exact_table())
    assert [row[:3] for row in rows] == [row[:3] for row in expected]
    assert [row[3] for row in rows] == pytest.approx([row[3] for row in expected], rel=1e-9)
    assert {row[0] for row in rows} == set(range(2, EXACT_SMALLER + 1))
    assert max(row[1] for row in rows) == EXACT_LARGER
