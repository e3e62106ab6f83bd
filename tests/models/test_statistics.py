"""The intervals against scipy and by simulation."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

TABLE = Path(__file__).parents[2] / "seeds" / "student_t.csv"


def quantiles() -> dict[float, float]:
    with TABLE.open(encoding="utf-8") as file:
        return {float(row["degrees_of_freedom"]): float(row["t_975"]) for row in csv.DictReader(file)}


def test_the_tabulated_quantiles_are_students():
    table = quantiles()
    assert min(table) == 1
    assert max(table) == 200
    for degrees, t in table.items():
        assert t == pytest.approx(stats.t.ppf(0.975, degrees), abs=1e-6)


@pytest.mark.parametrize("runs", [5, 9, 10, 30])
def test_the_interval_of_a_capacity_covers_the_truth_in_94_to_96_percent(runs):
    """The model's formula on 20,000 simulated configurations; the standard error of the share is 0.15 %."""
    rates = np.random.default_rng(2544).normal(10_000, 200, size=(20_000, runs))
    half_width = quantiles()[runs - 1] * rates.std(axis=1, ddof=1) / np.sqrt(runs)
    covered = np.abs(rates.mean(axis=1) - 10_000) <= half_width
    assert 0.94 <= covered.mean() <= 0.96


def test_the_models_interval_is_scipys_on_the_runs_of_every_example(sql):
    configurations = sql(
        """select configuration_id, ci_low, ci_high,
            (select list(rate) from run_capacity
             where run_capacity.configuration_id = capacity.configuration_id and loss_goal = 'isc' and rate is not null)
        from capacity where origin = 'measured' and loss_goal = 'isc' and ci_low is not null and rate_stdev > 0"""
    )
    assert len(configurations) >= 5
    for _, low, high, rates in configurations:
        expected = stats.t.interval(0.95, len(rates) - 1, np.mean(rates), stats.sem(rates))
        assert (low, high) == pytest.approx(expected, rel=1e-6)
