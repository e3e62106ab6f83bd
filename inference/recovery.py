"""The hour after an outage, a power cut or a boot wave: who waits, who repeats, and when everybody has a lease.

Clients are counted, not followed: how many are due to send in which second, on which attempt. That is the expectation
over all clients, so that an hour costs the same for a hundred clients and for ten million, and the same inputs always
give the same course. Each second the server answers up to its capacity, first whom it kept in its queue; it keeps
others up to the size of the queue and drops the rest, in proportion among those who sent. Whoever is dropped sends
again when his timer ends; whoever is in the queue does not repeat, which holds while the queue is no longer than the
capacity times the first time-out.

Timers of new leases: RFC 2131, 4.1 (4, 8, 16, 32, 64 s, each plus or minus 1 s); RFC 8415, 7.6 and 15 (SOL_TIMEOUT 1 s,
doubled up to SOL_MAX_RT 3600 s, each spread by RAND, a tenth of the time-out before it). Timers of renewals: RFC 2131,
4.4.5 (half the time left until T2, then until the end of the lease, at least 60 s); RFC 8415, 7.6 (REN_TIMEOUT and
REB_TIMEOUT 10 s, doubled up to 600 s). Whoever renews in vain until his lease ends asks for a new one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

HOUR: Final = 3600
FIRST_TIMEOUT_S: Final = {4: 4.0, 6: 1.0}
LONGEST_TIMEOUT_S: Final = {4: 64.0, 6: 3600.0}
_SPREAD_S: Final = 1.0  # RFC 2131, 4.1
_RAND: Final = 0.1  # RFC 8415, 15
_SHORTEST_RENEWAL_S: Final = 60.0  # RFC 2131, 4.4.5
_REN_TIMEOUT_S, _REN_MAX_RT_S = 10.0, 600.0  # RFC 8415, 7.6; the same for REB
_EVERY_WAIT_S: Final = 2 * HOUR  # equal waits are followed one by one when they end within this time
_SAMPLES: Final = 20_000  # moments of an outage at which a client may have sent first


class Wait(NamedTuple):
    """How long a client waits after an attempt that nobody answered.

    Attributes:
        low: shortest wait, in seconds.
        high: longest wait; all between are equally likely.
        stay: for how long a client waits so, in seconds: once (the mean wait), or many times over.
        then: number of the attempt that follows.

    """

    low: float
    high: float
    stay: float
    then: int

    @property
    def mean(self) -> float:
        """The mean wait, in seconds."""
        return (self.low + self.high) / 2


class Timers(NamedTuple):
    """The waits of all attempts: those for a new lease first, from `renewal` on those for renewals."""

    waits: tuple[Wait, ...]
    renewal: int


class Course(NamedTuple):
    """What happens in each second; all but `overdue` have the shape (seconds,) and count clients or requests.

    Attributes:
        overdue: clients that wait at the start, because the server was down.
        arrived: clients that send for the first time.
        served: clients that are answered.
        waiting: clients without an answer at the end of the second.
        renewing: those of them whose lease is still valid.
        sent: requests.
        repeated: requests of clients that had sent before.

    """

    overdue: float
    arrived: Array
    served: Array
    waiting: Array
    renewing: Array
    sent: Array
    repeated: Array

    @property
    def without_lease(self) -> Array:
        """Clients that wait and have no lease, at the end of each second."""
        return self.waiting - self.renewing

    @property
    def recovered_s(self) -> int | None:
        """After how many seconds fewer than one client is without a lease; None if the time does not suffice."""
        late = np.flatnonzero(self.without_lease >= 1)
        if not late.size:
            return 0
        return int(late[-1]) + 2 if late[-1] + 1 < self.waiting.size else None


def timers(
    ip_version: int,
    lease_s: float,
    t1_s: float,
    t2_s: float,
    first_timeout_s: float | None = None,
    longest_timeout_s: float | None = None,
) -> Timers:
    """Return the waits of clients of an IP version, with the time-outs of a new lease as in the RFC or as given.

    Raises:
        ValueError: the IP version is neither 4 nor 6, a time-out is not above zero, or T1, T2 and the lease are not
            in this order.

    """
    if ip_version not in FIRST_TIMEOUT_S:
        message = f"IP version {ip_version}: expected 4 or 6"
        raise ValueError(message)
    if not 0 < t1_s <= t2_s <= lease_s:
        message = f"T1 {t1_s:g} s, T2 {t2_s:g} s, lease {lease_s:g} s: expected each no longer than the next"
        raise ValueError(message)
    first = FIRST_TIMEOUT_S[ip_version] if first_timeout_s is None else first_timeout_s
    longest = LONGEST_TIMEOUT_S[ip_version] if longest_timeout_s is None else longest_timeout_s
    if not (first > 0 and longest > 0):
        message = f"time-outs of {first:g} s, at most {longest:g} s: expected more than zero"
        raise ValueError(message)
    if ip_version == 4:
        waits = _doubling(first, longest, math.inf, 0, _SPREAD_S)
    else:
        waits = _doubling(first * (1 + _RAND / 2), longest, math.inf, 0)
        shortest = min(first, longest)
        waits[0] = waits[0]._replace(low=shortest, high=shortest * (1 + _RAND))  # 18.2.1: its RAND is above zero
    renewal = len(waits)
    for remaining in (t2_s - t1_s, lease_s - t2_s):
        if ip_version == 4:
            waits += _halving(remaining, len(waits))
        else:
            waits += _doubling(_REN_TIMEOUT_S, _REN_MAX_RT_S, remaining, len(waits))
    if waits[-1].then == len(waits):
        waits[-1] = waits[-1]._replace(then=0)
    return Timers(tuple(waits), renewal)


def steady(per_second: float, seconds: int = HOUR) -> Array:
    """Return the same number of clients for each of so many seconds."""
    return np.full(seconds, float(per_second))


def wave(clients: float, within_s: float, seconds: int = HOUR) -> Array:
    """Return how many of the clients come in each second, when they come evenly within so many seconds."""
    edges = np.minimum(np.arange(seconds + 1) / within_s, 1.0)
    return clients * np.diff(edges)


def after_outage(timers: Timers, starting: float, renewing: float, outage_s: float, t1_s: float) -> Array:
    """Return how many clients are due when after an outage of the server, by attempt and second.

    Args:
        timers: the waits of the clients.
        starting: how many asked for a new lease during the outage, evenly over it.
        renewing: how many reached T1 during the outage, evenly over it; each client once.
        outage_s: how long the server was down, in seconds.
        t1_s: T1, in seconds: whoever was due first has been due for the outage less this time.

    Returns:
        Clients, shape (attempts, HOUR + 1); the last column holds those who are due later.

    """
    due = np.zeros((len(timers.waits), HOUR + 1))
    if outage_s <= 0:
        return due
    shares = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    new, renewals = range(timers.renewal), range(timers.renewal, len(timers.waits))
    since = max(0.0, outage_s - t1_s)
    for clients, attempts, waited in (
        (starting, [*new], shares * outage_s),
        (renewing, [*renewals, *new], since + shares * (outage_s - since)),
    ):
        waits = [timers.waits[each] for each in attempts]
        ends = np.cumsum([each.stay for each in waits])
        at = np.searchsorted(ends, waited, side="right")
        mean = np.array([each.mean for each in waits])[at]
        begun = np.concatenate(([0.0], ends[:-1]))[at]
        remaining = mean - (waited - begun) % mean
        then = np.array([each.then for each in waits])[at]
        np.add.at(due, (then, np.minimum(remaining, HOUR).astype(int)), clients / _SAMPLES)
    return due


def simulate(
    starting: ArrayLike,
    renewing: ArrayLike,
    capacity_lps: float,
    timers: Timers,
    queue: float,
    overdue: Array | None = None,
) -> Course:
    """Return the course of the seconds after an event.

    Args:
        starting: clients that ask for a new lease for the first time, shape (seconds,).
        renewing: clients that reach T1, shape (seconds,).
        capacity_lps: how many the server answers, per second.
        timers: how long they wait before they repeat.
        queue: how many requests the server keeps for later; `inf` for all.
        overdue: clients that wait at the start, as `after_outage` gives them.

    Raises:
        ValueError: the arrivals are not of the same length, or the capacity or the queue is below zero.

    """
    first = np.stack(np.broadcast_arrays(np.asarray(starting, float), np.asarray(renewing, float)), axis=1)
    if not (capacity_lps >= 0 and queue >= 0):
        message = f"capacity {capacity_lps:g} leases/s, queue {queue:g}: expected neither below zero"
        raise ValueError(message)
    seconds = len(first)
    begins = [0, timers.renewal % len(timers.waits)]
    delays = [_whole_seconds(each.low, each.high, seconds) for each in timers.waits]
    calendar = np.zeros((len(timers.waits), 2 * seconds + 1))
    if overdue is not None:
        within = min(seconds, overdue.shape[1] - 1)
        calendar[:, :within] += overdue[:, :within]
        calendar[:, -1] += overdue[:, within:].sum(axis=1)
    backing_off = calendar.sum(axis=1)
    counts = np.zeros((5, seconds))
    start, queued = float(backing_off.sum()), 0.0
    for second, arrivals in enumerate(first):
        due = calendar[:, second].copy()
        backing_off -= due
        repeated = due.sum()
        np.add.at(due, begins, arrivals)
        sent = due.sum()
        served = min(capacity_lps, queued + sent)
        left = queued + sent - served
        queued = min(left, queue)
        if left > queued:
            dropped = due * ((left - queued) / sent)
            for attempt in np.flatnonzero(dropped):
                then, (soonest, weights) = timers.waits[attempt].then, delays[attempt]
                begin = second + soonest
                calendar[then, begin : begin + weights.size] += dropped[attempt] * weights
                backing_off[then] += dropped[attempt]
        valid = backing_off[timers.renewal :].sum()
        counts[:, second] = served, queued + backing_off.sum(), valid, sent, repeated
    return Course(start, first.sum(axis=1), *counts)


def _halving(remaining: float, number: int) -> list[Wait]:
    """Return the waits of RFC 2131, 4.4.5 until `remaining` seconds are over, numbered from `number`."""
    waits: list[Wait] = []
    while remaining > 0:
        wait = min(max(_SHORTEST_RENEWAL_S, remaining / 2), remaining)
        waits.append(Wait(wait, wait, wait, number + len(waits) + 1))
        remaining -= wait
    return waits


def _doubling(first: float, longest: float, remaining: float, number: int, spread_s: float | None = None) -> list[Wait]:
    """Return waits from `first`, doubled up to `longest`, until `remaining` seconds are over, numbered from `number`.

    A client with hours before it stays with the longest. Without a spread in seconds, RAND spreads the waits. A client
    carries its RANDs along, so that its attempts drift further apart than if each wait were drawn anew: the k-th wait
    is spread by sqrt(2 k) RAND / 2 of its length, with which about as many clients wait (to 5 % of all) as when each
    is followed by itself. The longest is drawn anew each time.
    """
    waits: list[Wait] = []
    mean = min(first, longest)
    while remaining > 0:
        at, is_longest, wait = len(waits), mean == longest, min(mean, remaining)
        stays = is_longest and remaining > _EVERY_WAIT_S
        by = _RAND * wait * (1 if is_longest or not at else math.sqrt(2 * at) / 2) if spread_s is None else spread_s
        waits.append(Wait(wait - by, wait + by, remaining if stays else wait, number + at + (not stays)))
        remaining -= remaining if stays else wait
        mean = min(2 * mean, longest)
    return waits


def _whole_seconds(low: float, high: float, most: int) -> tuple[int, Array]:
    """Return the soonest second, at least 1, after which a client repeats, and the probability of it and the following.

    The client sent at any moment of a second, and waits any time from `low` to `high`, at most `most`.
    """
    low, high = np.clip((low, high), 1, most)
    soonest = int(low)
    edges = np.arange(soonest, int(high) + 3)
    begun = np.maximum(edges - low, 0)
    # the integral of the probability that the wait is shorter
    integral = (
        begun if low == high else np.minimum(begun, high - low) ** 2 / (2 * (high - low)) + np.maximum(edges - high, 0)
    )
    return soonest, np.diff(np.diff(integral, prepend=0.0))
