"""Simulated ramps of servers whose truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LIMIT: Final = 0.025
TRIAL_NOISE_RATIO: Final = 0.005
REACH: Final = (0.6, 1.5)  # first and last rate of a ramp, as multiples of the sustained rate
WAITING: Final = 64  # capacity of the M/M/1/K server's queue


def judged_steps(second: float = 0) -> str:
    """Return the initial CTE of the models' run_brackets(), over a table `trials` of rows of `trials_of`.

    `second` is what the second exchange loses, divided by what the first does.
    """
    return f"""judged_steps as (
        select
            run_id, 'isc' as loss_goal, {LIMIT} as loss_limit, 'worst_exchange' as loss_basis, offered_rate,
            offered_rate * (1 - loss_ratio) * (1 - {second} * loss_ratio) as achieved_rate,
            1 - (1 - loss_ratio) * (1 - {second} * loss_ratio) as loss_lease,
            loss_ratio, false as is_generator_limited, false as is_pace_lost, false as is_unsustained
        from trials
    )"""  # noqa: S608 - the text is ours


def _logistic(width: float) -> Callable[[Floats], Floats]:
    return lambda load: expit(logit(LIMIT) + (load - 1) / width)


def _hinge(load: Floats) -> Floats:
    return np.maximum(0, 1 - (1 - LIMIT) / load)


def _collapse(load: Floats) -> Floats:
    """Lose everything above the maximum served, and the same amount of the served."""
    most = 1 - LIMIT / 2
    return np.clip(np.where(load > most, 2 * (load - most) / load, 0), 0, 1)


def _full_queue(use: Floats) -> Floats:
    use = np.where(np.abs(use - 1) < 1e-9, 1 + 1e-9, use)
    return np.asarray(use**WAITING * (1 - use) / (1 - use ** (WAITING + 1)))


_FULL_AT: Final = brentq(lambda use: float(_full_queue(np.array(use))) - LIMIT, 0.5, 1.5)
SHAPES: Final[dict[str, Callable[[Floats], Floats]]] = {
    "logistic, width 5 %": _logistic(0.05),
    "logistic, width 10 %": _logistic(0.1),
    "logistic, width 20 %": _logistic(0.2),
    "hinge": _hinge,
    "goodput collapse": _collapse,
    "M/M/1/64": lambda load: _full_queue(_FULL_AT * load),
}
"""The loss ratio as a function of the offered rate, in units of the rate at which the loss reaches LIMIT."""
CLIFF: Final = "cliff"
_LOSSES: Final = SHAPES | {CLIFF: lambda load: np.where(load > 1, 0.4, 0.0)}


def trials_of(
    noise: np.random.Generator, sustained: Floats, step: Floats | float, phase: Floats, shape: str
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Simulate a ramp for each server and return its trials: run number, offered rate, loss ratio.

    Args:
        noise: of single trials.
        sustained: offered rate at which the loss reaches LIMIT, one per run, around 1. Runs are numbered in its order.
        step: distance of the offered rates of a ramp, in the same unit; broadcast to `sustained`.
        phase: offset of the grid of offered rates, 0 to 1 steps; broadcast to `sustained`.
        shape: one of SHAPES, or CLIFF.
    """
    steps, phases = (np.broadcast_to(each, sustained.shape).ravel() for each in (step, phase))
    first = np.floor(REACH[0] / steps - phases)
    trials = np.ceil((REACH[1] - REACH[0]) / steps).astype(np.int64) + 1
    run = np.repeat(np.arange(sustained.size), trials)
    place = np.arange(run.size) - np.repeat(np.cumsum(trials) - trials, trials)
    offered = (first[run] + phases[run] + place) * steps[run]
    today = sustained.ravel()[run] * (1 + TRIAL_NOISE_RATIO * noise.standard_normal(run.size))
    return run, offered, _LOSSES[shape](offered / today)
