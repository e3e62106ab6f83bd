"""Simulation of the time after an outage, a power cut or a boot wave until the end of the lease.

Clients are not followed one by one: the simulation computes the expected number that send in each period, by attempt,
and thus costs the same for a hundred clients and for ten million. A period lasts a second at first, then a hundredth
of the elapsed time, and likewise again from T1 on. In each, the server answers up to its capacity, queued requests
first, fills its queue with others and drops the rest in proportion. A dropped client sends again when its timer ends; a
queued one does not, which is right if the queue is no longer than the capacity times the first time-out. A new lease
takes two exchanges: a client answered in the first starts the second at once, which has its own back-off.

Timers of new leases: RFC 2131, 4.1 (4, 8, 16, 32, 64 s, each plus or minus 1 s); RFC 8415, 7.6 and 15 (SOL_TIMEOUT 1 s,
doubled up to SOL_MAX_RT 3600 s, each spread by RAND, a tenth of the time-out before it). Timers of the second exchange,
after which the client starts over: RFC 2131, 3.1 (four repetitions in 60 s); RFC 8415, 18.2.2 (REQ_TIMEOUT 1 s,
REQ_MAX_RT 30 s, REQ_MAX_RC 10). Timers of renewals, until the lease ends: RFC 2131, 4.4.5 (half the time left until T2,
then until the end of the lease, at least 60 s); RFC 8415, 7.6 (REN_TIMEOUT and REB_TIMEOUT 10 s, doubled up to 600 s).
"""

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HOUR: Final = 3600
FIRST_TIMEOUT_S: Final = {4: 4.0, 6: 1.0}
LONGEST_TIMEOUT_S: Final = {4: 64.0, 6: 3600.0}
_SPREAD_S: Final = 1.0  # RFC 2131, 4.1
_RAND: Final = 0.1  # RFC 8415, 15
_SHORTEST_RENEWAL_S: Final = 60.0  # RFC 2131, 4.4.5
_REN_TIMEOUT_S, _REN_MAX_RT_S = 10.0, 600.0  # RFC 8415, 7.6; the same for REB
_REQUESTS_V4_S: Final = 60.0  # RFC 2131, 3.1: 4, 8, 16, 32 s
_REQ_MAX_RT_S, _REQUESTS_V6_S = 30.0, 1.05 * 31 + 5 * 30  # RFC 8415, 7.6: ten waits
_EVERY_WAIT_S: Final = 2 * HOUR  # equal waits are simulated one by one if they end within this time
# RANDs accumulate: ten doublings after clients lost their leases together, the logarithms of their times have a
# standard deviation of 9 %, and hardly any deviates by more than 29 %
_SCORES: Final = np.linspace(-3.25, 3.25, 27)
_SHARES: Final = np.exp(-(_SCORES**2) / 2)
_PACES: Final = tuple(zip(np.exp(0.09 * _SCORES), _SHARES / _SHARES.sum(), strict=True))
_INSTANT_S: Final = 1e-6  # shorter times count as zero
_STEP: Final = 0.01  # length of a period, as a share of the time since the event or since T1


class Wait(NamedTuple):
    """Wait of a client after an unanswered attempt."""

    low: float  # shortest wait, in seconds
    high: float  # longest wait; all waits between are equally likely
    stay: float  # how long a client keeps this wait, in seconds: once (the mean wait), or many times over
    then: int  # number of the attempt that follows

    @property
    def mean(self) -> float:
        """Mean wait, in seconds."""
        return (self.low + self.high) / 2


class Timers(NamedTuple):
    """Waits of all attempts: first for an offer, from `request` on for the lease, then for renewals."""

    waits: tuple[Wait, ...]
    request: int
    renewal: int
    # waits without a lease, as multiples of the mean wait, and the share of clients with each
    paces: tuple[tuple[float, float], ...] = ((1.0, 1.0),)


class Server(NamedTuple):
    """The server that answers the clients."""

    capacity_lps: float  # new leases per second
    queue: float  # number of requests that it can queue; `inf` for all
    offer_cost: float = 0.5  # cost of the first exchange of a client without a lease, in new leases
    request_cost: float = 0.5  # cost of the second exchange
    requesting: float = 1.0  # share of these clients that need a second one; the others remember their lease
    renewal_cost: float = 1.0  # cost of a renewal, in new leases
    # answers under overload: ascending pairs of (requested, answered), both relative to the capacity; by default the
    # capacity itself
    goodput: tuple[tuple[float, float], ...] = ()

    def answers(self, asked_lps: float) -> float:
        """Return the leases per second that it gives if `asked_lps` are requested."""
        if not self.goodput or asked_lps <= self.capacity_lps:
            return self.capacity_lps
        asked, answered = zip((1.0, 1.0), *self.goodput, strict=True)
        return self.capacity_lps * float(np.interp(asked_lps / self.capacity_lps, asked, answered))


class Course(NamedTuple):
    """Result by period; all but `edges` and `overdue` have the shape (periods,), in clients or requests."""

    edges: Array  # boundaries of the periods, in seconds after the event, shape (periods + 1,)
    overdue: float  # clients that already wait at the start, because the server was down
    arrived: Array  # clients that send for the first time
    served: Array  # clients that got their answer
    waiting: Array  # clients without an answer at the end of the period
    renewing: Array  # waiting clients whose lease is still valid
    sent: Array  # requests
    repeated: Array  # requests of clients that had sent before
    answered: Array  # requests: a new lease takes two

    @property
    def without_lease(self) -> Array:
        """Number of waiting clients without a lease at the end of each period."""
        return self.waiting - self.renewing

    @property
    def recovered_s(self) -> int | None:
        """Seconds until fewer than one client is without a lease; None if that does not happen in time."""
        late = np.flatnonzero(self.without_lease >= 1)
        if not late.size:
            return 0
        return round(self.edges[late[-1] + 2]) if late[-1] + 1 < self.waiting.size else None


def timers(
    ip_version: int,
    lease_s: float,
    t1_s: float,
    t2_s: float,
    first_timeout_s: float | None = None,
    longest_timeout_s: float | None = None,
) -> Timers:
    """Return the waits of clients of an IP version; time-outs of a new lease are by default those of the RFC.

    The version is 4 or 6, time-outs are above zero, and T1 <= T2 <= lease.
    """
    first = FIRST_TIMEOUT_S[ip_version] if first_timeout_s is None else first_timeout_s
    longest = LONGEST_TIMEOUT_S[ip_version] if longest_timeout_s is None else longest_timeout_s
    if ip_version == 4:
        waits = _doubling(first, longest, math.inf, 0, _SPREAD_S)
    else:
        waits = _doubling(first * (1 + _RAND / 2), longest, math.inf, 0)
        shortest = min(first, longest)
        waits[0] = waits[0]._replace(low=shortest, high=shortest * (1 + _RAND))  # 18.2.1: its RAND is above zero
    request = len(waits)
    if ip_version == 4:
        waits += _doubling(first, longest, _REQUESTS_V4_S, request, _SPREAD_S)
    else:
        waits += _doubling(first * (1 + _RAND / 2), min(longest, _REQ_MAX_RT_S), _REQUESTS_V6_S, request)
    waits[-1] = waits[-1]._replace(then=0)
    renewal = len(waits)
    for remaining in (t2_s - t1_s, lease_s - t2_s):
        if ip_version == 4:
            waits += _halving(remaining, len(waits))
        else:
            waits += _doubling(_REN_TIMEOUT_S, _REN_MAX_RT_S, remaining, len(waits))
    waits.append(Wait(0.0, 0.0, 0.0, 0))  # the lease has ended
    return Timers(tuple(waits), request, renewal, *([_PACES] if ip_version == 6 else []))


def periods(t1_s: float, lease_s: float, longest_s: float = math.inf) -> Array:
    """Return the edges of periods until the lease ends, at least for an hour, fine after the event and after T1.

    `longest_s` limits them for a lasting overload, in which clients that repeat within a period would get too little.
    """
    end = max(float(HOUR), lease_s)
    edges = np.concatenate((_from_fine_to_coarse(min(t1_s, end)), t1_s + _from_fine_to_coarse(end - t1_s)[1:]))
    parts = np.append(0, np.ceil(np.diff(edges) / longest_s).clip(1).cumsum())
    return np.interp(np.arange(parts[-1] + 1), parts, edges)


def flow(clients: float, from_s: float, to_s: float, edges: Array) -> Array:
    """Return how many clients arrive in each period if they arrive evenly between two times."""
    return clients * np.diff(np.clip((edges - from_s) / max(to_s - from_s, _INSTANT_S), 0.0, 1.0))


def steady(per_second: float, edges: Array) -> Array:
    """Return how many clients arrive in each period at a constant rate."""
    return per_second * np.diff(edges)


def after_outage(timers: Timers, starting: float, renewing: float, outage_s: float, t1_s: float, edges: Array) -> Array:
    """Return the clients due after an outage, shape (attempts, periods + 1), where the last column is for later.

    During the outage, `starting` clients asked for a new lease and `renewing` clients reached T1, each once and evenly
    over time. The first of these has been due for the outage minus `t1_s`. All times are in seconds.
    """
    due = np.zeros((len(timers.waits), edges.size))
    if outage_s <= 0:
        return due
    without_end = np.append(edges, math.inf)
    new, renewals = timers.waits[: timers.request], timers.waits[timers.renewal : -1]
    since, valid_s = max(0.0, outage_s - t1_s), sum(wait.stay for wait in renewals)
    courses = [(renewing, renewals, since, 0.0, 1.0)]
    for pace, share in timers.paces:
        courses += [(share * starting, new, 0.0, 0.0, pace), (share * renewing, new, since, valid_s, pace)]
    for clients, waits, ago, begun, pace in courses:
        for wait in waits:
            drawn_anew = len(timers.paces) > 1 and math.isinf(wait.stay)
            own = 1.0 if drawn_anew else pace
            least, most = max((ago - begun) / own, 0.0), min((outage_s - begun) / own, wait.stay)
            lengths = np.linspace(wait.low, wait.high, 5).tolist() if drawn_anew else [wait.mean]
            for length in lengths:
                drift = least // wait.mean * (length - wait.mean)  # the waits before had the mean length
                for waited, soonest, latest in _ends(least + drift, most + drift, length):
                    coming = clients * own * waited / (outage_s - ago) / len(lengths)
                    due[wait.then] += flow(coming, own * soonest, own * latest, without_end)
            begun += pace * wait.stay
    return due


def simulate(
    edges: Array,
    starting: Array,
    renewing: Array,
    server: Server,
    timers: Timers,
    overdue: Array | None = None,
    again: tuple[float, Array] | None = None,
) -> Course:
    """Simulate the periods with these `edges`, in seconds after an event.

    `starting` are the clients that ask for a new lease for the first time, `renewing` those that reach T1, both of the
    shape (periods,); `overdue` are those that wait at the start, from `after_outage`. `again` holds the seconds after
    which a served client renews, and the number of clients per period that do not, shape (periods,); without it, no
    client returns. Capacity and queue are not negative.
    """
    renewing = renewing.copy()
    offered, requested = slice(timers.request), slice(timers.request, timers.renewal)
    renewed = slice(timers.renewal, None)
    # times clients by attempt, these give: their number, their cost, the number that ask for an offer, that renew
    weights = np.zeros((4, len(timers.waits)))
    weights[0] = 1
    weights[1, offered], weights[1, requested] = server.offer_cost, server.request_cost
    weights[1, renewed] = server.renewal_cost
    weights[2, offered] = weights[3, renewed] = 1
    further = server.requesting * server.request_cost  # additional cost of an offer as soon as it is made
    # waits that are repeated; after any other wait, the next is longer
    means = np.array([wait.mean if wait.then == place else math.inf for place, wait in enumerate(timers.waits)])
    # share of the clients in a repeated wait that move on to the next wait per second
    leaving_rate = np.array([wait.then == place and 1 / wait.stay for place, wait in enumerate(timers.waits)])
    once = np.array([wait.mean for wait in timers.waits])
    repeats = _remembered(edges.tobytes())
    calendar = np.zeros((len(timers.waits), edges.size)) if overdue is None else overdue.copy()
    backing_off = calendar.sum(axis=1)
    counts = np.zeros((6, edges.size - 1))
    queued = np.zeros(len(timers.waits))
    start = float(backing_off.sum())
    renew_s, leaving = again or (0.0, 0.0)
    to_renew = -np.cumsum(leaving)  # those served so far are added, those counted are subtracted
    for period, length in enumerate(np.diff(edges).tolist()):
        due = calendar[:, period].copy()
        backing_off -= due
        repeated = float(due.sum())
        due[timers.renewal] += renewing[period]
        due[0] += starting[period] + due[-1]
        due[-1] = 0
        in_queue, queued_cost, queued_offers, _ = (weights @ queued).tolist()
        sent, cost, due_offers, _ = (weights @ due).tolist()
        able = length * server.answers((queued_cost + cost + further * (queued_offers + due_offers)) / length)
        done = able / queued_cost if queued_cost > able else 1.0
        offers = server.requesting * done * queued_offers
        served = done * in_queue - offers
        share = _served_share(max(0.0, able - queued_cost), cost + offers * server.request_cost, further * due_offers)
        offers_now = server.requesting * share * due_offers
        if offers + offers_now:
            due[timers.request] += offers + offers_now
        sent += offers + offers_now
        served += share * sent - offers_now
        left = (1 - share) * sent
        taken = min(left, max(0.0, server.queue - (1 - done) * in_queue))
        dropped = due * (1 - share)
        queued = (1 - done) * queued + dropped * (taken / left if left else 0.0)
        if left > taken:
            dropped *= (left - taken) / left
            # in a long period a client sends more than once
            more = float(dropped @ np.maximum(length / means - 1, 0))
            sent, repeated = sent + more, repeated + more
            ended = dropped * np.minimum(np.maximum(length, once) * leaving_rate, 1)
            dropped += np.roll(ended, 1) - ended
            for attempt in np.flatnonzero(dropped):
                wait = timers.waits[attempt]
                begin, shares = repeats(period, wait.low, wait.high)
                calendar[wait.then, begin : begin + shares.size] += dropped[attempt] * shares
                backing_off[wait.then] += dropped[attempt]
        if again:
            to_renew[period:] += served
            renewals = max(0.0, float(to_renew[period]))
            to_renew -= renewals
            begin, shares = repeats(period, renew_s, renew_s)
            renewing[begin : begin + shares.size] += renewals * shares[: len(renewing) - begin]
        waiting, _, _, valid = (weights @ (queued + backing_off)).tolist()
        counts[:, period] = served, waiting, valid, sent, repeated, served + offers + offers_now
    return Course(edges, start, starting + renewing, *counts)


def _served_share(able: float, cost: float, further: float) -> float:
    """Return the share s of the due requests that can be served, if serving them leads to further requests at once.

    The share s costs s `cost`, and the requests that follow the offers cost s x s `further`.
    """
    if able >= cost + further:
        return 1.0
    return 2 * able / (cost + math.sqrt(cost * cost + 4 * further * able))


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

    With hours left, a client repeats the longest wait for an eighth of the remaining time, and so on. Without a spread
    in seconds, RAND spreads the waits. As each wait builds on the one before, attempts drift further apart than with
    independent waits: the k-th wait is spread by sqrt(2 k) RAND / 2 of its length, which agrees with following each
    client (to 5 % of all clients). The longest wait is drawn independently each time.
    """
    waits: list[Wait] = []
    mean = min(first, longest)
    while remaining > 0:
        at, is_longest, wait = len(waits), mean == longest, min(mean, remaining)
        stay = wait
        if is_longest and remaining > _EVERY_WAIT_S:
            stay = remaining if math.isinf(remaining) else wait * (remaining // (8 * wait))
        by = _RAND * wait * (1 if is_longest or not at else math.sqrt(2 * at) / 2) if spread_s is None else spread_s
        waits.append(Wait(wait - by, wait + by, stay, number + at + (stay == wait)))
        remaining -= stay
        mean = min(2 * mean, longest)
    return waits


def _ends(least: float, most: float, mean: float) -> list[tuple[float, float, float]]:
    """Split the waits between `least` and `most` evenly; return (length of time, earliest end, latest end) of each."""
    if most <= least:
        return []
    first, last = int(least // mean), int(most // mean)
    if first == last:
        return [(most - least, (first + 1) * mean - most, (first + 1) * mean - least)]
    rounds = [
        ((first + 1) * mean - least, 0.0, (first + 1) * mean - least),
        ((last - first - 1) * mean, 0.0, mean),
        (most - last * mean, (last + 1) * mean - most, mean),
    ]
    return [each for each in rounds if each[0] > 0]


def _from_fine_to_coarse(length: float) -> Array:
    """Return edges from zero to `length`, a second apart at first, then further and further."""
    if not length:
        return np.zeros(1)
    fine = min(length, 1 / _STEP)
    coarse = math.ceil(math.log(length / fine) / math.log1p(_STEP))
    edges = np.concatenate((np.arange(math.ceil(fine)), np.geomspace(fine, length, coarse + 1)))
    return np.unique(edges)


@lru_cache(maxsize=4)
def _remembered(edges: bytes) -> Callable[[int, float, float], tuple[int, Array]]:
    """Return `_repeats` of these edges with a cache, as visitors change the clients more often than the lease."""
    return lru_cache(maxsize=20_000)(partial(_repeats, np.frombuffer(edges)))


def _repeats(edges: Array, period: int, low: float, high: float) -> tuple[int, Array]:
    """Return the first period in which the clients of a period repeat, and the shares in it and the following ones."""
    begin, length = edges[period], edges[period + 1] - edges[period]
    first = max(period + 1, int(edges.searchsorted(begin + low, side="right")) - 1)
    last = int(edges.searchsorted(begin + length + high))
    if first >= edges.size - 1:
        return edges.size - 1, np.ones(1)
    since = np.maximum(edges[first + 1 : last + 1] - [[begin + low], [begin + length + low]], 0.0)
    if high > low:
        # the integral of the probability that the wait is shorter
        within = np.minimum(since, high - low)
        since += within * (within / (2 * (high - low)) - 1)
    shares = (since[0] - since[1]) / length
    if last >= edges.size:
        shares = np.append(shares, 1.0)
    shares[1:] -= shares[:-1].copy()
    return first, shares
