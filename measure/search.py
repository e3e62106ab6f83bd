"""Search for the next rate, a pure function of the trials so far, so that it can resume after any interruption."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Final

from dropline.measure.macros import number

_NARROWEST_CUT: Final = 0.25  # least share of a bracket to cut off, however precise the estimate seems
_TRIALS: Final = 3  # at a step in doubt
_TOLERANCE: Final = 0.125  # largest difference of both estimates of the crossing, as a share of the wanted bracket


@dataclass(frozen=True, slots=True)
class Goal:
    """A loss goal: at the capacity, the loss on this basis or the share of errors begins to exceed its limit.

    `exceed_ratio` is the share of a step's trials that may exceed it: 0.5, so that the median counts, or 0.
    """

    name: str
    limit: float
    basis: str
    error_limit: float
    exceed_ratio: float = 0.5


@dataclass(frozen=True, slots=True)
class Trial:
    """Data of a trial that the search needs."""

    rate: float  # offered
    losses: Mapping[str, float]  # ratio by basis
    achieved: float  # rate
    errors: float = 0.0  # ratio of error answers to answers
    is_limited: bool = False  # whether the generator sent too little
    is_unsustained: bool = False  # whether the server failed to keep up, regardless of the loss
    sent_rate: float = 0.0  # rate that the generator sent

    def exceeds(self, goal: Goal) -> bool:
        """Return whether this trial by itself exceeds the goal."""
        return _exceeds([self], goal)


@dataclass(frozen=True, slots=True)
class Plan:
    """Parameters of a run's search."""

    low: int  # lower end of the range of rates
    high: int
    width: float  # of the final bracket, divided by the rate
    expected: float | None = None  # the result of earlier runs, if any
    # position of the bracket around `expected`, 0 to 1; random per run, as a fixed grid would bias all runs alike
    phase: float = 0.5
    can_send: Callable[[int], bool] = lambda _: True  # whether the generator can send at a rate

    @property
    def first(self) -> int | None:
        """Initial rate."""
        return self.nearest(self.low if self.expected is None else self.expected * (1 + self.width) ** -self.phase)

    def above(self, rate: float, begun_at: float) -> int | None:
        """Return a rate above a passing one: twice that, or near the expected one, in growing steps."""
        stride = 2 if self.expected is None else min(2, max(1 + self.width, rate / begun_at))
        return self.nearest(rate * stride, above=rate)

    def below(self, rate: float, begun_at: float) -> int | None:
        """Return a rate below a failing one."""
        return self.nearest(rate / min(2, max(1 + self.width, begun_at / rate)), below=rate)

    def nearest(self, rate: float, above: float = -math.inf, below: float = math.inf) -> int | None:
        """Return the nearest rate that can be sent, within the range and between `above` and `below`, if any."""
        lowest, highest = round(max(self.low, above + 1)), round(min(self.high, below - 1))
        middle = min(highest, max(lowest, round(rate)))
        near = (each for step in range(highest - lowest + 1) for each in (middle - step, middle + step))
        return next((each for each in near if lowest <= each <= highest and self.can_send(each)), None)


Steps = dict[float, list[Trial]]
"""Trials of a run by rate, in ascending order."""


def next_rate(trials: Sequence[Trial], goals: Iterable[Goal], plan: Plan) -> int | None:
    """Return the rate of a run's next trial, or None if every goal, the loosest first, has its bracket.

    The bracket is found by doubling, then narrowed by interpolating the logarithm of the loss, until it is narrow and
    interpolating the loss itself gives the same rate. A failed step is repeated before it bounds a bracket, as is one
    where the generator sent too little; if two trials disagree, a third decides. If no trial may exceed the goal, the
    passing step must pass three times.
    """
    steps = _steps(trials)
    begun_at = trials[0].rate if trials else 0
    rates = (_next_of(goal, steps, begun_at, plan) for goal in goals)
    return next((rate for rate in rates if rate is not None), None)


def bracket(trials: Sequence[Trial], goal: Goal) -> tuple[float | None, float | None]:
    """Return the last passing and the first exceeding rate, as a build determines them."""
    return _bracket(_steps(trials), goal)


def _steps(trials: Sequence[Trial]) -> Steps:
    ordered = sorted(trials, key=lambda trial: trial.rate)
    return {rate: list(of_rate) for rate, of_rate in groupby(ordered, key=lambda trial: trial.rate)}


def _bracket(steps: Steps, goal: Goal) -> tuple[float | None, float | None]:
    exceeding = next((rate for rate, trials in steps.items() if _exceeds(trials, goal)), None)
    passing = [rate for rate in steps if exceeding is None or rate < exceeding]
    return (passing[-1] if passing else None), exceeding


def _exceeds(trials: Sequence[Trial], goal: Goal) -> bool:
    return (
        _of_step((trial.is_unsustained for trial in trials), goal) >= 0.5
        or _of_step((trial.errors for trial in trials), goal) > goal.error_limit
        or _loss(trials, goal) > goal.limit
    )


def _of_step(values: Iterable[float], goal: Goal) -> float:
    """Return the value that a step is judged by: the median of its trials, or the worst if none may exceed the goal."""
    return median(values) if goal.exceed_ratio else max(values)


def _loss(trials: Sequence[Trial], goal: Goal) -> float:
    return _of_step((trial.losses[goal.basis] for trial in trials), goal)


def _next_of(goal: Goal, steps: Steps, begun_at: float, plan: Plan) -> int | None:
    passing, exceeding = _bracket(steps, goal)
    if passing is None and exceeding is None:
        return plan.first
    if exceeding is None:
        assert passing is not None  # noqa: S101 - at least one is set
        limited = [trial.is_limited for trial in steps[passing]]
        if _is_in_doubt(limited):
            return round(passing)
        further = None if median(limited) >= 0.5 else plan.above(passing, begun_at)
    elif passing is None:
        further = plan.below(exceeding, begun_at)
    else:
        further = _between(goal, steps, passing, exceeding, plan)
    if further is not None:
        return further
    if passing is not None:  # one more trial could show that it does not pass
        is_unsure = not goal.exceed_ratio and len(steps[passing]) < _TRIALS
        if is_unsure or _is_in_doubt([trial.is_limited for trial in steps[passing]]):
            return round(passing)
    if exceeding is not None and goal.exceed_ratio and _is_in_doubt([each.exceeds(goal) for each in steps[exceeding]]):
        return round(exceeding)
    return None


def _between(goal: Goal, steps: Steps, passing: float, exceeding: float, plan: Plan) -> int | None:
    lost, lost_above, limit = _loss(steps[passing], goal), _loss(steps[exceeding], goal), goal.limit
    linear = logarithmic = 0.5  # where the loss reaches the limit; the middle if it is unknown
    if 0 < limit < lost_above:
        least = max(lost, number("least_loss", limit))
        linear, logarithmic = (
            (limit - lost) / (lost_above - lost),
            math.log(limit / least) / math.log(lost_above / least),
        )
    width = exceeding / passing - 1
    if width <= plan.width and (logarithmic - linear) * width <= _TOLERANCE * plan.width:
        return None
    cut = logarithmic if lost >= number("least_loss", limit) else 0.5
    share = min(1 - _NARROWEST_CUT, max(_NARROWEST_CUT, cut))
    return plan.nearest(passing * (exceeding / passing) ** share, passing, exceeding)


def _is_in_doubt(verdicts: Sequence[bool]) -> bool:
    """Return whether one more trial could change the verdict of a step's first one or two."""
    return len(verdicts) < _TRIALS and sum(verdicts) == 1
