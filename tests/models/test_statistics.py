"""Intervals, p values and verdicts of the models against scipy, on the runs of every example."""

import csv
import itertools
import math
from pathlib import Path

import duckdb
import numpy as np
import pytest
from scipy import stats

TABLE = Path(__file__).parents[2] / "seeds" / "student_t.csv"
CONSTANTS = Path(__file__).parents[2] / "seeds" / "interval_constants.csv"
RATIOS = {
    "multithreading_speedup": ("speedup", "configuration_id_multi", "configuration_id_single", "'isc'"),
    "ha_speedup": ("ratio", "configuration_id_with_ha", "configuration_id_without_ha", "'isc'"),
    "backend_ratio": ("ratio", "configuration_id_backend", "configuration_id_reference", "loss_goal"),
    "ip_version_ratio": ("ratio", "configuration_id_v6", "configuration_id_v4", "loss_goal"),
}


def test_the_tabulated_quantiles_are_students():
    with TABLE.open(encoding="utf-8") as file:
        table = np.array([[float(cell) for cell in row] for row in list(csv.reader(file))[1:]])
    degrees = table[:, 0]
    assert (degrees.min(), degrees.max()) == (1, 200)
    assert table[:, 1:] == pytest.approx(stats.t.ppf([[0.95], [0.975]], degrees).T, abs=1e-6)


def test_the_lowest_of_normal_runs_dips_in_two_of_a_thousand_sets_at_most():
    with CONSTANTS.open(encoding="utf-8") as file:
        table = {int(row["runs"]): float(row["dip_stdevs"] or "nan") for row in csv.DictReader(file)}
    assert [runs for runs, limit in table.items() if math.isnan(limit)] == [2, 3]
    noise = np.random.default_rng(1983)
    for runs in (4, 5, 9, 30):
        ordered = np.sort(noise.standard_normal((200_000, runs)))
        above = ordered[:, 1:]
        share = np.mean(above.mean(axis=1) - ordered[:, 0] > table[runs] * above.std(axis=1, ddof=1))
        assert 0.0014 < share < 0.0024


@pytest.fixture
def estimates(sql):
    """(configuration_id, loss goal) -> both estimates of the crossing of each of its runs, shape (runs, 2)."""
    rows = sql("select configuration_id, loss_goal, list([crossing_low, crossing_high]) from run_capacity group by all")
    return {(configuration, goal): np.array(runs, dtype=float) for configuration, goal, runs in rows}


def mean_and_error(values, least_spread=0):
    return values.mean(), max(stats.sem(values), least_spread / math.sqrt(len(values)))


def critical(runs, gap, error):
    """Return how many standard errors an interval whose ends are `gap` apart reaches beyond them."""
    one_tail, two_tails = stats.t.ppf([0.95, 0.975], runs - 1)
    nearness = 1 if runs == 2 else np.maximum(0, 1 - gap / error / 3)
    return one_tail + nearness * (two_tails - one_tail)


@pytest.mark.parametrize("runs", [2, 3, 4, 5, 9, 30, 60])
def test_an_interval_misses_in_at_most_one_of_twenty_cases_however_far_its_ends_are_apart(runs):
    # the truth lies at one end, the worst place; both ends err alike, and the error is estimated
    gap = np.concatenate([np.linspace(0, 8, 81), np.geomspace(10, 1000, 20)])[:, None]
    error = np.sqrt(stats.chi2.ppf((np.arange(4_000) + 0.5) / 4_000, runs - 1) / (runs - 1))
    margin = critical(runs, gap, error) * error
    missed = np.mean(stats.norm.cdf(-margin) + stats.norm.cdf(-margin - gap), axis=1)
    assert missed.max() <= 0.0501


def test_an_interval_runs_from_students_end_of_the_low_estimates_to_that_of_the_high_ones(sql, estimates):
    found = sql(
        """select configuration_id, loss_goal, ci_low, ci_high from capacity
        where interval_kind = 'confidence' and outlier_runs = 0 and coalesce(run_correlation, 0) <= 0"""
    )
    assert len(found) >= 20
    for configuration, goal, low, high in found:
        runs = estimates[configuration, goal]
        means, errors = runs.mean(axis=0), stats.sem(runs)
        margins = critical(len(runs), means[1] - means[0], errors.max()) * errors
        assert (low, high) == pytest.approx((max(0, means[0] - margins[0]), means[1] + margins[1]), rel=1e-6)


def test_a_bracket_runs_from_the_lowest_passing_to_the_highest_exceeding_step(sql):
    found = sql(
        """select
            capacity.last_passing_rate, capacity.first_exceeding_rate, capacity.ci_low, capacity.ci_high, steps.runs
        from capacity inner join (
            select configuration_id, list([last_passing_rate, first_exceeding_rate, bracket_low, bracket_high]) as runs
            from run_capacity where loss_goal = 'isc' group by configuration_id
        ) as steps using (configuration_id)
        where loss_goal = 'isc' and interval_kind = 'bracket' and status = 'bracketed' and outlier_runs = 0"""
    )
    assert len(found) >= 3
    for *ends, runs in found:
        passing, exceeding, low, high = zip(*runs, strict=True)
        assert ends == [min(passing), max(exceeding), min(low), max(high)]
        # two exchanges lose between one and two times the limit
        assert all(0.95 <= goodput / rate < 0.976 for goodput, rate in zip(low, passing, strict=True))


def test_runs_that_resemble_their_neighbours_widen_the_interval(sql, estimates):
    found = sql(
        """select configuration_id, loss_goal, run_correlation, ci_high from capacity
        where run_correlation > 0 and interval_kind = 'confidence' and outlier_runs = 0"""
    )
    assert found
    for configuration, goal, correlation, high in found:
        runs = estimates[configuration, goal]
        means, errors = runs.mean(axis=0), stats.sem(runs) * math.sqrt((1 + correlation) / (1 - correlation))
        t = critical(len(runs), means[1] - means[0], errors.max())
        assert high == pytest.approx(means[1] + t * errors[1], rel=1e-6)


@pytest.mark.parametrize("percent", [1, 2, 5])
def test_the_number_of_runs_needed_is_the_least_with_80_percent_power(sql, percent):
    found = sql(
        f"""select stdev_interpolated / rate_interpolated, runs_for_{percent}_percent
        from capacity where stdev_interpolated > 0 and runs_for_{percent}_percent between 3 and 5000"""
    )
    assert len(found) >= 20
    for variation, runs in found:
        assert power(runs, percent / 100 / variation) > 0.7999
        assert power(runs - 1, percent / 100 / variation) < 0.8001


def test_the_detectable_ratio_has_80_percent_power_between_two_sets_of_these_runs(sql):
    found = sql(
        """select runs_without_outliers, stdev_interpolated / rate_interpolated, detectable_ratio
        from capacity where stdev_interpolated > 0 and rate_interpolated is not null"""
    )
    assert len(found) >= 30
    for runs, variation, detectable in found:
        assert power(runs, detectable / variation) == pytest.approx(0.8, abs=1e-5)


def power(runs, stdevs):
    """Return how often Student's test at 5 % sees that two sets of runs lie so many standard deviations apart."""
    degrees = 2 * runs - 2
    return stats.nct.sf(stats.t.ppf(0.975, degrees), degrees, stdevs * math.sqrt(runs / 2))


def welch(above, below, least):
    """Return logarithm, error and degrees of freedom of the ratio of two means; `least` is the least spread of each."""
    sides = [mean_and_error(side, spread) for side, spread in zip((above, below), least, strict=True)]
    variances = [(error / mean) ** 2 for mean, error in sides]
    parts = [variance**2 / (len(side) - 1) for variance, side in zip(variances, (above, below), strict=True)]
    return math.log(sides[0][0] / sides[1][0]), math.sqrt(sum(variances)), sum(variances) ** 2 / sum(parts)


@pytest.mark.parametrize("table", RATIOS)
def test_a_ratio_has_the_interval_and_p_value_of_welchs_test_of_its_nearer_ends(sql, estimates, table):
    _, treatment, baseline, goal = RATIOS[table]
    dipping = {row[:2] for row in sql("select configuration_id, loss_goal from capacity where outlier_runs > 0")}
    correlated = {row[:2] for row in sql("select configuration_id, loss_goal from capacity where run_correlation > 0")}
    rows = sql(
        f"""select {treatment}, {baseline}, {goal}, ci_low, ci_high, p_value
        from {table} where p_value is not null and ci_low is not null and ci_high is not null"""
    )
    assert rows
    alike = "interval_kind = 'bracket' and runs_without_outliers = 2"
    steps = sql(f"select configuration_id, loss_goal, resolution from capacity where {alike}")
    spreads = {row[:2]: (row[2] or 0) / math.sqrt(12) for row in steps}
    for one, other, at, low, high, p_value in rows:
        least = [spreads.get((each, at), 0) for each in (one, other)]
        if {(one, at), (other, at)} & (dipping | correlated):
            continue
        (low_one, high_one), (low_other, high_other) = estimates[one, at].T, estimates[other, at].T
        nearest, furthest = welch(low_one, high_other, least), welch(high_one, low_other, least)
        for end, sign, (logarithm, error, degrees) in ((low, -1, nearest), (high, 1, furthest)):
            # degrees of freedom are rounded down to a tenth: never too narrow
            exact = logarithm + sign * stats.t.ppf(0.975, degrees) * error
            rounded = logarithm + sign * stats.t.ppf(0.975, math.floor(degrees * 10) / 10) * error
            assert math.log(end) == pytest.approx(rounded, abs=1e-6)
            assert sign * (rounded - exact) >= 0
        clear = max((nearest[0] / nearest[1], nearest[2]), (-furthest[0] / furthest[1], furthest[2]), (0, 1))
        expected = 2 * stats.t.sf(clear[0], math.floor(clear[1] * 10) / 10)
        assert p_value == pytest.approx(max(expected, 1e-6), rel=0.02, abs=3e-7)


@pytest.mark.parametrize("table", RATIOS)
def test_interval_and_verdict_never_contradict_each_other(sql, table):
    rows = sql(f"select ci_low, ci_high, p_value, p_value_holm, verdict from {table} where origin = 'measured'")
    assert rows
    for low, high, p_value, adjusted, verdict in rows:
        if verdict == "not testable":
            assert low is None
            assert high is None
            continue
        assert verdict.endswith("faster") == (low is not None and low > 1)
        assert verdict.endswith("slower") == (high is not None and high < 1)
        assert p_value <= adjusted
        assert (verdict in {"faster", "slower"}) == (adjusted <= 0.05 and verdict != "no evidence")


@pytest.mark.parametrize("table", RATIOS)
def test_p_values_are_corrected_by_holm_once_for_a_pair_and_its_mirror_image(sql, table):
    _, treatment, baseline, goal = RATIOS[table]
    unit = "rate_unit" if table in {"backend_ratio", "ip_version_ratio"} else "'leases/s'"
    rows = sql(
        f"""select {goal}, {unit}, {treatment}, {baseline}, p_value, p_value_holm from {table}
        where p_value is not null order by 1, 2"""
    )
    assert rows
    for _, family in itertools.groupby(rows, key=lambda row: row[:2]):
        tests = {frozenset(row[2:4]): (row[4], row[5]) for row in family}
        largest = 0.0
        for place, (p_value, adjusted) in enumerate(sorted(tests.values())):
            largest = max(largest, min(1, (len(tests) - place) * p_value))
            assert adjusted == pytest.approx(largest)


def test_single_published_figures_have_neither_interval_nor_test(sql):
    for table in RATIOS:
        published = sql(
            f"select distinct ci_low, p_value, p_value_holm, verdict from {table} where origin = 'published'"
        )
        assert published == [(None, None, None, "not testable")]


def test_compare_says_of_two_configurations_what_their_ratio_table_says(sql):
    rows = sql(
        """select configuration_id_backend, configuration_id_reference, loss_goal, rate, reference_rate, ratio, ci_low,
        ci_high, p_value from backend_ratio where origin = 'measured' and ratio is not null"""
    )
    assert rows
    for treatment, baseline, goal, *expected in rows:
        [found] = sql(
            "select rate_a, rate_b, ratio, ci_low, ci_high, p_value from compare(?, ?) where loss_goal = ?",
            *(treatment, baseline, goal),
        )
        assert found == pytest.approx(expected)


def test_compare_takes_names_and_judges_the_first_by_itself(sql):
    fast, slow = "ISC Kea 2.2.0 DHCPv4 memfile multi x4", "ISC Kea 2.2.0 DHCPv4 mysql multi x4"
    [(runs_a, runs_b, words)] = sql(
        "select runs_a, runs_b, verdict from compare(?, ?) where loss_goal = 'isc' and runs_a > 1", fast, slow
    )
    assert (runs_a, runs_b, words) == (5, 5, "faster")
    [(words,)] = sql("select verdict from compare(?, ?) where loss_goal = 'isc' and runs_b > 1", slow, fast)
    assert words == "slower"
    with pytest.raises(duckdb.InvalidInputException, match="There is no configuration nobody"):
        sql("select count(*) from compare('nobody', ?)", slow)
