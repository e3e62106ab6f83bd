"""Changes of level: few false alarms, in clean noise or among dips, real steps found, nothing raised."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import changes as simulation
from dropline.inference.changes import (
    ALPHAS,
    COST_BOUND,
    Brackets,
    cumulative_costs,
    noise_scale,
    segment,
    shortest_segment,
    split_gains,
    trend,
)

CAPACITIES = st.lists(st.integers(0, 2_000_000).map(lambda tenths: tenths / 10), max_size=60)
WIGGLE = np.tile([0.0, 9.0, -7.0, 4.0, -11.0, 6.0], 10)


def places(values, **options):
    return [change.index for change in trend(values, **options).changes]


@pytest.mark.parametrize(
    ("name", "at_most"),
    [
        ("false alarm: clean noise", 0.02),
        ("false alarm: 5 % of the runs dip by 10 to 30 %", 0.02),
        ("false alarm: 5 % of the runs spike by 10 to 30 %", 0.03),
    ],
)
def test_false_alarms_are_rare_in_a_whole_series(name, at_most):
    assert share(name, 1000) <= at_most


@pytest.mark.parametrize(("shape", "step"), [("logistic, width 10 %", 0.05), ("goodput collapse", 0.1)])
def test_ramps_of_one_server_hardly_ever_show_a_change(shape, step):
    ramps = simulation.measured(simulation.CLEAN, 100, step, shape)
    habit = np.mean([bool(trend(series).changes) for series in ramps.rate])
    assert np.mean([bool(changes) for changes in ramps.changes()]) <= 0.05 < habit


def test_campaigns_whose_ramps_differ_show_a_change_only_if_there_is_one():
    half = np.arange(100) // 50
    steps = np.array([0.05, 0.1])[half]
    same = simulation.measured(simulation.CLEAN, 60, steps, "goodput collapse", campaigns=half)
    # of all shapes this one is the worst: one series in ten
    assert np.mean([bool(changes) for changes in same.changes()]) <= 0.13
    case = simulation.Case("slower", (50,), (0.9,))
    slower = simulation.measured(case, 60, steps, "goodput collapse", campaigns=half).changes()
    assert np.mean([[change.index for change in each] in ([49], [50], [51]) for each in slower]) >= 0.9


@pytest.mark.parametrize(("correlation", "at_most"), [("0.3", 0.07), ("0.6", 0.2)])
def test_runs_that_resemble_their_neighbours_seldom_raise_an_alarm(correlation, at_most):
    assert share(f"false alarm: neighbouring runs correlate by {correlation}", 300) <= at_most


@pytest.mark.parametrize(("sessions", "runs", "spread"), [(5, 5, 1), (6, 5, 1), (10, 10, 1), (20, 5, 2)])
def test_sessions_that_differ_besides_their_runs_seldom_raise_an_alarm(sessions, runs, spread):
    names = np.repeat(np.arange(sessions), runs)
    alone, known = (
        [bool(trend(series, sessions=of).changes) for series in simulation.draw_sessions(sessions, runs, spread)]
        for of in (None, names)
    )
    assert np.mean(known) <= 0.04 < 0.1 < np.mean(alone)


@pytest.mark.parametrize(("sessions", "runs"), [(2, 5), (3, 10), (4, 5), (4, 10)])
def test_an_alarm_in_too_few_sessions_to_compare_is_marked(sessions, runs):
    names = np.repeat(np.arange(sessions), runs)
    found = [trend(series, sessions=names).changes for series in simulation.draw_sessions(sessions, runs, 1)]
    assert np.mean([bool(changes) for changes in found]) >= 0.05
    assert np.mean([not all(change.is_other_session for change in changes) for changes in found]) <= 0.07


def test_a_change_within_a_session_and_one_among_sessions_of_one_run_have_no_mark():
    step = 1000 - 60 * (np.arange(60) >= 30) + WIGGLE
    for sessions in (np.arange(60) // 20, np.arange(60) // 6, np.arange(60)):
        (change,) = trend(step, sessions=sessions).changes
        assert not change.is_other_session
    (change,) = trend(step, sessions=np.arange(60) // 15).changes
    assert change.is_other_session


def test_a_staircase_in_one_direction_is_a_drift_and_there_and_back_is_none():
    for levels, expected in (((1000, 950, 900), True), ((1000, 950, 1000), False)):
        changes = trend(np.repeat(levels, 20) + WIGGLE).changes
        assert [change.index for change in changes] == [20, 40]
        assert [change.is_drift for change in changes] == [expected] * 2


def test_a_changed_spread_is_told_beside_a_change_of_level():
    step = 1000 - 60 * (np.arange(60) >= 30)
    (steady,) = trend(step + WIGGLE).changes
    (scattered,) = trend(step + WIGGLE * np.where(np.arange(60) < 30, 0.3, 1)).changes
    assert not steady.is_spread_changed
    assert scattered.is_spread_changed


def test_brackets_that_overlap_in_part_doubt_a_change_that_their_crossings_do_not_show():
    values = np.where(np.arange(60) < 30, 1000, 970) + WIGGLE
    half = np.arange(60) < 30

    def changes(first, last, margin):
        return trend(values, brackets=Brackets(values - margin, values + margin, first, last)).changes

    one_grid = np.full(60, 900.0), np.full(60, 1100.0)
    two_grids = np.where(half, 900.0, 950.0), np.where(half, 1100.0, 1020.0)
    assert [change.index for change in changes(*one_grid, 40)] == [30]
    assert changes(*two_grids, 40) == []
    assert [change.index for change in changes(*two_grids, 3)] == [30]
    values[[7, 45]] = 500  # two dips leave no doubt
    assert [change.index for change in changes(*two_grids, 3)] == [30]


@pytest.mark.parametrize(
    ("name", "at_least"),
    [
        ("found: -5 %, 3 runs after", 0.53),
        ("found: -5 %, 10 runs after", 0.95),
        ("found: -3 %, 10 runs after", 0.57),
        ("found: -2 %, 50 runs after", 0.50),
        ("found: -5 % for 10 runs and back, both places", 0.87),
        ("found: -5 %, 10 runs after, 5 % of the runs dip", 0.90),
    ],
)
def test_real_steps_are_found_within_two_runs_of_their_place(name, at_least):
    assert share(name, 500) >= at_least


def share(name, count):
    (case,) = [case for case in simulation.CASES if case.name == name]
    return simulation.score(lambda values: simulation.dropline(values, 0.01), case, count)


@pytest.mark.parametrize("n", [4, 6, 9, 14, 30, 70, 100])
def test_the_chance_of_a_false_alarm_is_alpha_at_every_length(n):
    series = np.random.default_rng(n).standard_normal((600, n))
    alarms = np.mean([bool(trend(10_000 + 200 * values, alpha=0.1).changes) for values in series])
    assert alarms == pytest.approx(0.1, abs=0.04)  # over three standard errors, and the table's own


@pytest.mark.parametrize(
    ("step", "dips", "expected"),
    [
        ({}, {}, []),
        ({}, {10: 0.8, 30: 0.7, 31: 0.75}, []),
        ({}, {59: 0.8}, []),
        ({}, {58: 0.8, 59: 0.8}, []),
        ({}, {56: 0.8, 57: 0.8}, []),
        ({57: 0.95}, {}, [57]),
        ({30: 0.95}, {}, [30]),
        ({30: 0.95}, {10: 0.8, 40: 0.7}, [30]),
        ({20: 0.95, 30: 1.0}, {}, [20, 30]),
        ({3: 1.1, 20: 1.2, 40: 0.9}, {}, [3, 20, 40]),
    ],
)
def test_a_level_that_lasts_is_a_change_and_a_dip_is_none(step, dips, expected):
    levels = np.full(60, 1000.0)
    for place, ratio in step.items():
        levels[place:] = 1000 * ratio
    values = levels + WIGGLE
    values[list(dips)] *= list(dips.values())
    found = trend(values)
    assert [change.index for change in found.changes] == expected
    assert list(np.flatnonzero(found.dips)) == list(dips)
    for change in found.changes:
        assert change.before == pytest.approx(levels[change.index - 1], rel=0.005)
        assert change.after == pytest.approx(levels[change.index], rel=0.005)


def test_a_level_is_the_mean_of_the_runs_that_are_no_outliers():
    values = 1000 + WIGGLE
    values[5], values[20] = 700, 1500
    assert trend(values).levels == pytest.approx(np.full(60, np.delete(values, [5, 20]).mean()))


def test_a_stronger_change_has_a_smaller_p_value_and_none_is_above_alpha():
    def strength(step):
        (change,) = trend(np.where(np.arange(60) < 57, 1000, 1000 - step) + WIGGLE, alpha=0.2).changes
        return change.p_value

    weak, middle, strong = strength(15), strength(20), strength(60)
    assert 0.2 >= weak > middle > strong
    assert strong == pytest.approx(ALPHAS[0])


@pytest.mark.parametrize("values", [[], [1], [1, 9, 1], [5.0] * 50, [0.0] * 4])
def test_three_runs_or_equal_ones_show_nothing(values):
    found = trend(values)
    assert found.changes == []
    assert not found.dips.any()
    assert len(found.levels) == len(values)


def test_figures_without_noise_show_their_step():
    assert places([100.0] * 20 + [90.0] * 20) == [20]


def test_a_rise_from_nothing_is_found():
    (change,) = trend(np.maximum(0, WIGGLE[:40] + 1000 * (np.arange(40) >= 20)) * (np.arange(40) >= 20)).changes
    assert (change.index, change.before) == (20, 0)


def test_four_runs_show_a_change_that_leaves_no_doubt():
    assert places([1000, 1001, 801, 799]) == [2]
    assert places([1000, 1040, 960, 940]) == []
    runs = np.array([1060.6, 1054.4, 1119.1, 1121.7])
    first, last = np.array([1000.0, 1000.0, 1010.0, 1010.0]), np.full(4, 1250.0)
    found = trend(runs, brackets=Brackets(0.98 * runs, 1.02 * runs, first, last))
    assert not found.changes
    assert not found.dips.any()  # neither half departs from the other


@given(CAPACITIES, st.sampled_from(ALPHAS))
@settings(deadline=None)
def test_any_series_is_split_into_levels_that_last(values, alpha):
    found = trend(values, alpha)
    bounds = [0, *(change.index for change in found.changes), len(values)]
    for first, end in pairwise(bounds):
        assert end - first >= (shortest_segment(len(values)) if found.changes else 0)
        assert len(set(found.levels[first:end])) <= 1
    assert all(ALPHAS[0] <= change.p_value <= alpha for change in found.changes)
    assert all(np.asarray(values)[found.dips] < found.levels[found.dips])


@given(CAPACITIES, st.sampled_from([2.0**-10, 0.5, 2.0, 2.0**20]))
@settings(deadline=None)
def test_the_unit_of_the_rates_does_not_matter(values, unit):
    assert places(np.asarray(values) * unit) == places(values)


@pytest.mark.parametrize("seed", range(20))
def test_no_segmentation_is_cheaper_than_the_one_chosen(seed):
    draw = np.random.default_rng(seed)
    scaled = draw.standard_normal(11) + 4 * (np.arange(11) > draw.integers(11)) - 9 * (draw.random(11) < 0.1)
    sums, price = cumulative_costs(scaled), draw.uniform(2, 9)

    def cost(bounds):
        return sum((sums[end] - sums[first]).min() for first, end in pairwise(bounds)) + price * (len(bounds) - 2)

    candidates = [(0, *inner, 11) for count in range(3) for inner in combinations(range(3, 9), count)]
    lasting = [bounds for bounds in candidates if min(np.diff(bounds)) >= shortest_segment(11)]
    assert cost(segment(sums, price)) == pytest.approx(min(map(cost, lasting)))


def test_without_outliers_the_gain_is_the_gaussian_likelihood_ratio():
    scaled = np.random.default_rng(1).uniform(-1.5, 1.5, 400) + 0.8 * (np.arange(400) >= 150)
    exact = simulation.gaussian_gains(scaled)[2:-2]
    # each of three levels is off by up to half a standard error of the whole series: a quarter of a unit
    assert split_gains(cumulative_costs(scaled), 3) == pytest.approx(exact, abs=0.5)


def test_the_noise_is_estimated_without_bias_and_hardly_moved_by_steps_and_dips():
    draw = np.random.default_rng(3)
    noise = draw.standard_normal((2000, 100))
    assert np.median(noise_scale(noise)) == pytest.approx(1, abs=0.02)
    deviations = np.median(np.abs(noise - np.median(noise, axis=1, keepdims=True)), axis=1)
    assert np.std(np.log(noise_scale(noise))) == pytest.approx(0.09, abs=0.01)
    assert np.std(np.log(deviations)) == pytest.approx(0.12, abs=0.01)
    assert np.median(noise_scale(noise + 5 * (np.arange(100) >= 50))) == pytest.approx(1, abs=0.08)
    dipped = noise - (draw.random(noise.shape) < 0.05) * draw.uniform(5, 15, noise.shape)
    assert np.median(noise_scale(dipped)) == pytest.approx(1.13, abs=0.03)


def test_a_dip_is_marked_from_its_bound_on():
    values = 1000 + WIGGLE
    limit = trend(values).levels[0] - np.sqrt(COST_BOUND) * noise_scale(values)
    for lower, marked in ((5, True), (-5, False)):
        values[30] = limit - lower
        assert trend(values).dips[30] == marked


def test_figures_rounded_so_that_most_are_equal_keep_their_noise():
    rounded = np.round(np.random.default_rng(4).normal(size=(500, 100)) / 2.5) * 2.5
    deviation = rounded.std(axis=1)
    tied = np.mean(rounded[:, 1:] == rounded[:, :-1], axis=1) > 0.55
    assert tied.mean() > 0.9
    assert np.median(noise_scale(rounded[tied]) / deviation[tied]) == pytest.approx(1, abs=0.02)
