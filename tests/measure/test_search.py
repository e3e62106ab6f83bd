"""The search against simulated servers whose knee is known."""

from dataclasses import replace

import pytest

from benchmarks.search import (
    BIAS,
    COVERAGE_DISTURBED,
    DISTURBED,
    FALSE_ALARMS,
    FOUND,
    KNEE,
    SHAPES,
    TRIALS,
    self_test,
    simulate,
)
from dropline.measure.judged import rates_of_runs
from dropline.measure.search import Goal, Plan, Trial, bracket, next_rate

ISC = Goal("isc", 0.025, "worst_exchange", 0.001)
PDR = Goal("pdr", 0.005, "worst_exchange", 0.001)
NDR = Goal("ndr", 0.0, "worst_exchange", 0.001)
PLAN = Plan(300, 25_000, 0.02)


def lossy(rate, knee=KNEE, **more):
    """A trial of a server that answers `knee` a second, whatever comes."""
    loss = max(0.0, 1 - knee / rate)
    return Trial(rate, {"worst_exchange": loss, "lease": loss}, rate * (1 - loss), **more)


def searched(answer, goals=(ISC,), plan=PLAN):
    trials = []
    while (rate := next_rate(trials, goals, plan)) is not None:
        trials.append(answer(rate, len(trials)))
        assert len(trials) < 60
    return trials


@pytest.mark.parametrize("disturbed", [0, DISTURBED])
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_hold_the_truth_without_bias_and_with_few_trials(shape, disturbed):
    found = simulate(shape, 0.02, disturbed, sets=150)
    assert abs(found.bias) < BIAS
    assert found.coverage >= COVERAGE_DISTURBED - 0.02  # of 150 sets it is known to two points
    assert found.trials <= TRIALS


@pytest.mark.parametrize("disturbed", [0, DISTURBED])
def test_the_gate_is_seldom_misled_by_a_bench_and_finds_what_is_slower(disturbed):
    alarms, found = self_test("hinge", disturbed, benches=8)
    assert alarms <= FALSE_ALARMS
    assert found >= FOUND


def test_intervals_are_no_wider_than_they_must_be_where_the_loss_sets_in_suddenly():
    assert simulate("goodput collapse", 0.05, sets=1000).coverage <= 0.975


def test_a_bracket_is_narrowed_until_its_losses_tell_where_the_limit_is():
    def falls(rate, _):
        loss = 0.9 if rate > KNEE else 0.0
        return Trial(rate, {"worst_exchange": loss, "lease": loss}, rate * (1 - loss))

    low, high = bracket(searched(falls), ISC)
    assert low <= KNEE < high <= 1.006 * low


def test_a_first_run_finds_the_knee_from_afar():
    trials = searched(lambda rate, _: lossy(rate))
    low, high = bracket(trials, ISC)
    assert low < KNEE / 0.975 < high <= 1.02 * low
    assert len(trials) <= 15


def test_a_later_run_begins_where_the_one_before_ended():
    trials = searched(lambda rate, _: lossy(rate), plan=Plan(300, 25_000, 0.02, KNEE / 0.975, 0.5))
    assert len(trials) <= 4
    assert {round(trial.rate / KNEE, 1) for trial in trials} == {1.0}


def test_one_search_brackets_several_goals():
    def gradual(rate, _):
        loss = max(0.0, (rate - 5000) / 100_000)
        return Trial(rate, {"worst_exchange": loss, "lease": loss}, rate * (1 - loss))

    trials = searched(gradual, (NDR, PDR, ISC))
    for goal, truth in ((NDR, 5000), (PDR, 5500), (ISC, 7500)):
        low, high = bracket(trials, goal)
        assert low <= truth <= high <= 1.021 * low, goal
    assert len(trials) < sum(len(searched(gradual, (goal,))) for goal in (NDR, PDR, ISC))


def test_a_step_that_failed_by_a_burst_does_not_bound_the_bracket():
    burst = 4  # the fifth trial, at 4,800/s, half of the knee
    trials = searched(lambda rate, number: lossy(rate, knee=rate / 2 if number == burst else KNEE))
    assert trials[burst].rate == 4800
    assert len([trial for trial in trials if trial.rate == 4800]) == 3
    low, high = bracket(trials, ISC)
    assert low < KNEE / 0.975 < high <= 1.02 * low


@pytest.mark.parametrize("burst", range(1, 20))
def test_where_no_trial_may_exceed_the_goal_one_burst_bounds_the_bracket_and_three_trials_pass_below_it(burst):
    strict = replace(ISC, exceed_ratio=0)
    trials = searched(lambda rate, number: lossy(rate, knee=rate / 2 if number == burst else KNEE), (strict,))
    low, high = bracket(trials, strict)
    assert low < high <= 1.02 * low
    assert [trial.exceeds(strict) for trial in trials if trial.rate == low] == [False] * 3
    if burst < len(trials):
        assert high <= trials[burst].rate
    (judged,) = rates_of_runs([("server", 1, trials)], [strict]).to_pylist()
    assert (judged["last_passing_rate"], judged["first_exceeding_rate"]) == (low, high)


@pytest.mark.parametrize("flaw", [{"is_limited": True}, {"is_unsustained": True}])
@pytest.mark.parametrize("burst", range(8))
def test_one_trial_without_enough_processor_time_is_made_again(flaw, burst):
    trials = searched(lambda rate, number: lossy(rate, **(flaw if number == burst else {})))
    low, high = bracket(trials, ISC)
    assert low < KNEE / 0.975 < high <= 1.021 * low


@pytest.mark.parametrize(
    ("answer", "low", "high", "trials"),
    [
        (lambda rate, _: lossy(rate, knee=10**9), 25_000, None, 8),
        (lambda rate, _: lossy(rate, knee=10), None, 300, 2),
        (lambda rate, _: lossy(rate, knee=10**9, is_limited=rate > 5000), 9600, None, 7),
    ],
    ids=["never exceeded", "exceeded at the lowest rate", "limited by the generator"],
)
def test_a_search_without_a_bracket_ends(answer, low, high, trials):
    found = searched(answer)
    assert bracket(found, ISC) == (low, high)
    assert len(found) == trials


@pytest.mark.parametrize(
    ("flaw", "status"),
    [
        ({"errors": 0.5}, "bracketed"),
        ({"is_unsustained": True}, "bracketed"),
        ({"is_unsustained": True, "is_limited": True}, "generator_limited"),
    ],
)
def test_answers_that_are_errors_or_too_slow_are_no_capacity(flaw, status):
    trials = searched(lambda rate, _: lossy(rate, knee=10**9, **(flaw if rate > 2000 else {})))
    low, high = bracket(trials, ISC)
    assert low <= 2000 < high <= 1.02 * low
    assert rates_of_runs([("server", 1, trials)], [ISC]).to_pylist()[0]["status"] == status
