"""The models' intervals and tests against scipy and the functions of inference, on the runs of every example."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from inference.comparison import holm, rank_test, ratio_interval, verdict
from inference.location import runs_needed, undisturbed

TABLE = Path(__file__).parents[2] / "seeds" / "student_t.csv"
RATIOS = {
    "multithreading_speedup": ("speedup", "configuration_id_multi", "configuration_id_single", "'isc'"),
    "ha_speedup": ("ratio", "configuration_id_with_ha", "configuration_id_without_ha", "'isc'"),
    "backend_ratio": ("ratio", "configuration_id_backend", "configuration_id_reference", "loss_goal"),
    "ip_version_ratio": ("ratio", "configuration_id_v6", "configuration_id_v4", "loss_goal"),
}


def quantiles() -> dict[float, float]:
    with TABLE.open(encoding="utf-8") as file:
        return {float(row["degrees_of_freedom"]): float(row["t_975"]) for row in csv.DictReader(file)}


def test_the_tabulated_quantiles_are_students():
    table = quantiles()
    assert min(table) == 1
    assert max(table) == 200
    for degrees, t in table.items():
        assert t == pytest.approx(stats.t.ppf(0.975, degrees), abs=1e-6)


@pytest.fixture
def runs(sql):
    """(configuration_id, loss goal) -> the rates of its runs and the step of their ramps."""
    rates = sql("select configuration_id, loss_goal, list(rate) from run_capacity where rate is not null group by all")
    steps = sql("select configuration_id, loss_goal, coalesce(resolution, 0) from capacity where origin = 'measured'")
    step_of = {(configuration, goal): step for configuration, goal, step in steps}
    return {(configuration, goal): (found, step_of[configuration, goal]) for configuration, goal, found in rates}


def test_the_models_interval_is_that_of_the_undisturbed_runs_of_every_example(sql, runs):
    configurations = sql(
        """select configuration_id, loss_goal, runs_dipping, rate_undisturbed, ci_low, ci_high
        from capacity where origin = 'measured' and ci_low is not null"""
    )
    assert len(configurations) >= 30
    for configuration, goal, dipping, mean, low, high in configurations:
        expected = undisturbed(*runs[configuration, goal])
        assert dipping == expected.dipping
        assert mean == pytest.approx(float(expected.mean))
        assert (low, high) == pytest.approx([float(end) for end in expected.interval()], rel=1e-6)


def test_without_dips_the_models_interval_is_scipys(sql, runs):
    configurations = sql(
        """select configuration_id, ci_low, ci_high from capacity
        where loss_goal = 'isc' and runs_dipping = 0 and ci_low > 0 and stdev_undisturbed > 0"""
    )
    assert len(configurations) >= 5
    for configuration, low, high in configurations:
        rates, _ = runs[configuration, "isc"]
        expected = stats.t.interval(0.95, len(rates) - 1, np.mean(rates), stats.sem(rates))
        assert (low, high) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("percent", [1, 2, 5])
def test_the_models_number_of_runs_needed_is_that_of_the_noncentral_t(sql, percent):
    variations = sql(
        f"""select stdev_undisturbed / rate_undisturbed, runs_for_{percent}_percent
        from capacity where stdev_undisturbed is not null"""
    )
    assert len(variations) >= 30
    for variation, needed in variations:
        assert needed == runs_needed(variation, percent / 100)


def test_the_detectable_ratio_has_80_percent_power_between_two_sets_of_these_runs(sql):
    found = sql(
        """select runs_undisturbed, stdev_undisturbed / rate_undisturbed, detectable_ratio
        from capacity where stdev_undisturbed > 0"""
    )
    assert len(found) >= 30
    for runs, variation, detectable in found:
        degrees, noncentrality = 2 * runs - 2, detectable / variation * np.sqrt(runs / 2)
        assert stats.nct.sf(stats.t.ppf(0.975, degrees), degrees, noncentrality) == pytest.approx(0.8, abs=1e-5)


@pytest.mark.parametrize("table", RATIOS)
def test_the_ratios_of_the_examples_have_the_interval_test_and_verdict_of_inference(sql, runs, table):
    ratio, treatment, baseline, goal = RATIOS[table]
    rows = sql(
        f"""select {treatment}, {baseline}, {goal}, {ratio}, ratio_undisturbed, ci_low, ci_high,
        p_value, p_value_holm, p_floor, verdict from {table} where p_value is not null"""
    )
    assert rows
    for *_, shown, centre, low, high, p_value, adjusted, p_floor, words in rows:
        assert low is None or low <= centre <= high
        assert p_floor <= p_value <= adjusted
        assert (words == "faster") <= (shown > 1)
        assert (words == "slower") <= (shown < 1)
    for goal_of_family in {row[2] for row in rows}:
        family = [row for row in rows if row[2] == goal_of_family]
        tests = {frozenset(row[:2]): rank_test(*(runs[side, goal_of_family][0] for side in row[:2])) for row in family}
        adjusted_by_pair = dict(zip(tests, holm([test.p_value for test in tests.values()]), strict=True))
        for row in family:
            sides = [runs[side, goal_of_family] for side in row[:2]]
            interval = ratio_interval(sides[0][0], sides[1][0], sides[0][1], sides[1][1])
            test, adjusted = rank_test(sides[0][0], sides[1][0]), adjusted_by_pair[frozenset(row[:2])]
            if np.isnan(interval.low):
                assert row[5:7] == (None, None)
            else:  # the model reads t at tabulated degrees of freedom, rounded down: never narrower, by 5 % at most
                width = float(np.log(interval.high / interval.low))
                assert width <= np.log(row[6] / row[5]) * (1 + 1e-6) <= 1.05 * width
            assert row[7] == pytest.approx(test.p_value, abs=3e-7)
            assert row[8] == pytest.approx(adjusted, abs=1e-5)
            assert row[9] == pytest.approx(test.p_floor, abs=3e-7)
            assert row[10] == verdict(test, adjusted, len(tests))


def test_single_published_figures_have_neither_interval_nor_test(sql):
    for table in RATIOS:
        published = sql(
            f"select distinct ci_low, p_value, p_value_holm, verdict from {table} where origin = 'published'"
        )
        assert published == [(None, None, None, "not testable")]


def test_compare_says_of_two_configurations_what_their_ratio_table_says(sql):
    rows = sql(
        """select configuration_id_backend, configuration_id_reference, loss_goal, rate, reference_rate, ratio, ci_low,
        ci_high, p_value, p_floor from backend_ratio where origin = 'measured' and ratio is not null"""
    )
    assert rows
    for treatment, baseline, goal, *expected in rows:
        [found] = sql(
            "select rate_a, rate_b, ratio, ci_low, ci_high, p_value, p_floor from compare(?, ?) where loss_goal = ?",
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
    assert sql("select count(*) from compare('nobody', ?)", slow) == [(0,)]
