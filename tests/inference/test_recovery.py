"""The course after an event: conservation, closed forms, and a simulation that follows each client."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dropline.inference.recovery import (
    HOUR,
    Server,
    Timers,
    Wait,
    after_outage,
    flow,
    periods,
    simulate,
    steady,
    timers,
)

COLD_STARTS = Path(__file__).parents[1] / "captures" / "perfdhcp" / "cold-start"
DAY = 86400.0
SECONDS = np.arange(HOUR + 1.0)
NOBODY = steady(0, SECONDS)
V4 = timers(4, DAY, DAY / 2, 0.875 * DAY)
V6 = timers(6, DAY, DAY / 2, 0.8 * DAY)


def unaccounted(course):
    """The largest difference in any second between who came and who was served or waits, relative to who came."""
    came = course.overdue + np.cumsum(course.arrived)
    return float(np.max(np.abs(came - np.cumsum(course.served) - course.waiting) / np.maximum(came, 1)))


@pytest.mark.parametrize(
    ("clock", "bounds"),
    [
        (V4, [(3, 5), (7, 9), (15, 17), (31, 33), (63, 65)]),  # RFC 2131, 4.1
        (timers(4, DAY, DAY / 2, DAY / 2, 2, 10), [(1, 3), (3, 5), (7, 9), (9, 11)]),
    ],
)
def test_a_client_of_ipv4_backs_off_as_in_rfc_2131(clock, bounds):
    assert [(wait.low, wait.high) for wait in clock.waits[: clock.request]] == bounds
    assert clock.waits[clock.request - 1].then == clock.request - 1, "the longest is repeated"


def test_a_client_of_ipv6_backs_off_as_in_rfc_8415():
    new = V6.waits[: V6.request]
    assert [wait.stay for wait in new[:-1]] == pytest.approx([1.05 * 2**attempt for attempt in range(12)])
    assert (new[-1].low, new[-1].high) == pytest.approx((3240, 3960)), "SOL_MAX_RT"
    assert (new[0].low, new[0].high) == pytest.approx((1, 1.1)), "RAND of the first is above zero"
    renewing = V6.waits[V6.renewal :]
    assert [wait.mean for wait in renewing[:7]] == pytest.approx([10, 20, 40, 80, 160, 320, 600])


def test_a_renewal_of_ipv4_halves_the_time_that_is_left_down_to_a_minute():
    clock = timers(4, 7200, 3600, 6300)
    renewing = [wait.mean for wait in clock.waits[clock.renewal :]]
    assert renewing[:6] == [1350, 675, 337.5, 168.75, 84.375, 60], "until T2, RFC 2131, 4.4.5"
    assert sum(renewing) == 3600, "the lease ends"
    assert clock.waits[-1].then == 0, "and a new one is asked for"


@pytest.mark.parametrize("clock", [V4, V6], ids=["v4", "v6"])
@pytest.mark.parametrize(("load", "capacity"), [(100, 100), (100, 250), (99.5, 100)])
def test_who_has_capacity_above_the_load_sees_no_repetition(clock, load, capacity):
    course = simulate(SECONDS, steady(load / 2, SECONDS), steady(load / 2, SECONDS), Server(capacity, 0), clock)
    assert not course.repeated.any()
    assert not course.waiting.any()
    assert course.recovered_s == 0
    assert course.sent.sum() == pytest.approx(HOUR * load * 1.5), "two requests for a lease, one for a renewal"


@pytest.mark.parametrize(
    ("clients", "capacity", "renewals"), [(50_000, 100, 0), (50_000, 500, 100), (350_000, 2000, 97.2)]
)
def test_with_a_full_queue_recovery_takes_the_clients_over_the_capacity_left_by_renewals(clients, capacity, renewals):
    """As F. Bulk told dhcp-users in April 2008, 50,000 clients at 10 leases/s take 5,000 s."""
    begun = flow(clients, 0, 1, SECONDS)
    course = simulate(SECONDS, begun, steady(renewals, SECONDS), Server(capacity, math.inf), V4)
    assert course.recovered_s == math.ceil(round(clients / (capacity - renewals), 6))
    assert not course.repeated.any()


def test_a_drained_hour_serves_all_who_came_and_an_hour_too_short_says_so():
    course = simulate(SECONDS, flow(12_000, 0, 60, SECONDS), NOBODY, Server(40, 120), V4)
    assert course.served.sum() == pytest.approx(12_000)
    assert course.recovered_s is not None
    assert course.recovered_s >= 12_000 / 40, "never sooner than with a full queue"
    slow = simulate(SECONDS, flow(50_000, 0, 60, SECONDS), NOBODY, Server(10, math.inf), V4)
    assert slow.recovered_s is None


def test_a_server_that_never_answers_hears_everybody_once_in_64_seconds():
    course = simulate(SECONDS, flow(6400, 0, 60, SECONDS), NOBODY, Server(0, 0), V4)
    assert course.waiting[-1] == pytest.approx(6400)
    assert course.repeated[-640:].mean() == pytest.approx(6400 / 64, rel=1e-3)
    edges = np.arange(0, 2 * HOUR, 50.0)
    late = simulate(edges, flow(6400, HOUR, 2 * HOUR, edges), 0 * edges[1:], Server(0, 0), V6)
    assert late.sent.sum() == pytest.approx(10.8 * 6400, rel=0.15), "wait doubles, in a long period too: 10.8 by then"


@settings(max_examples=30)
@given(
    st.sampled_from([V4, V6, timers(4, 60, 30, 52.5), timers(6, 60, 30, 48), timers(4, 600, 600, 600)]),
    st.floats(0, 1e6),
    st.floats(0, 500),
    st.floats(0, 5000),
    st.floats(0, 5000),
    st.floats(0, 5e5),
)
def test_in_each_period_who_came_was_served_or_waits(clock, clients, renewals, capacity, queue, outage_s):
    edges = periods(600, 1200)
    overdue = after_outage(clock, clients / 3, clients / 7, outage_s, DAY / 2, edges)
    arriving, due = flow(clients, 0, 60, edges), steady(renewals, edges)
    course = simulate(edges, arriving, due, Server(capacity, queue), clock, overdue, (600, 0 * due))
    assert unaccounted(course) < 1e-9
    assert (course.served <= 2 * capacity * np.diff(edges) * (1 + 1e-9) + 1e-9 * max(clients, 1)).all()
    assert min(course.waiting.min(), course.renewing.min(), course.repeated.min()) >= -1e-6
    assert (course.without_lease >= -1e-6 * max(clients, 1)).all()


@pytest.mark.parametrize("clock", [V4, V6], ids=["v4", "v6"])
def test_the_counts_are_the_mean_of_clients_followed_one_by_one(clock):
    """Each client draws its own waits as the RFCs say, in continuous time; the server answers whole clients."""
    clients, capacity, queue, seconds = 20_000, 60, 120, 600
    edges = periods(DAY, seconds)[: periods(DAY, seconds).searchsorted(seconds) + 1]
    begun = flow(clients, 0, 30, edges)
    course = simulate(edges, begun, 0 * begun, Server(capacity, queue), clock)
    waiting, repeated = followed(4 if clock is V4 else 6, clients, capacity, queue, seconds)
    ends = edges[1:].round().astype(int)
    within = ends <= seconds
    assert np.abs(course.waiting[within] - waiting[ends[within] - 1]).max() < 0.03 * clients
    assert course.repeated[within].sum() == pytest.approx(repeated, rel=0.05)


def followed(version, clients, capacity, queue, seconds):
    """Clients waiting after each second, and requests repeated; a lease takes two exchanges, half of its cost each."""
    random = np.random.default_rng(20260)
    ticks, most = 10, {4: 4, 6: 10}[version]  # a second; repetitions of a request
    due, last, tries = random.uniform(0, 30, clients), np.zeros(clients), np.zeros(clients)
    has_offer = np.zeros(clients, bool)
    queued = np.array([], int)
    repeated, done, waiting = 0, 0, np.zeros(seconds)
    came = np.sort(due)
    for tick in range(seconds * ticks):
        asking = random.permutation(np.flatnonzero((due >= tick / ticks) & (due < (tick + 1) / ticks)))
        repeated += np.count_nonzero(last[asking])
        line = np.concatenate((queued, asking))
        served = line[: 2 * capacity // ticks]
        rest = line[served.size :]
        done += np.count_nonzero(has_offer[served])
        due[served] = np.where(has_offer[served], np.inf, (tick + 1) / ticks)  # who has an offer asks for it next
        has_offer[served], last[served], tries[served] = True, 0, 0
        queued, dropped = rest[:queue], rest[queue:]
        due[queued] = np.inf
        previous, spread = last[dropped], random.uniform(-1, 1, dropped.size)
        if version == 4:
            last[dropped] = np.where(previous == 0, 4, np.minimum(2 * previous, 64))
            due[dropped] += last[dropped] + spread
        else:
            first, rand = 1 + 0.1 * np.where(has_offer[dropped], spread, np.abs(spread)), 0.1 * spread
            longest = np.where(has_offer[dropped], 30 * (1 + rand), np.inf)
            last[dropped] = np.minimum(np.where(previous == 0, first, previous * (2 + rand)), longest)
            due[dropped] += last[dropped]
        tries[dropped] += 1
        anew = dropped[has_offer[dropped] & (tries[dropped] >= most)]
        has_offer[anew], last[anew], tries[anew] = False, 0, 0
        repeated += anew.size  # its next DISCOVER is one too many
        if (tick + 1) % ticks == 0:
            waiting[tick // ticks] = np.searchsorted(came, (tick + 1) / ticks) - done
    return waiting, repeated


def timers_of_perfdhcp():
    """What perfdhcp does: 1, 2, 4 ... s after the *first* request, less or more by 1 s, drawn anew every 0.2 s.

    Of these draws the smallest counts: it repeats half a second sooner than the time-out on average.
    """

    def exchange(first):
        later = (2.0**attempt for attempt in range(6))
        waits = [Wait(s - 0.5, s + 0.5, s if k < 7 else math.inf, first + min(k, 6)) for k, s in enumerate(later, 2)]
        return [Wait(0.2, 1.2, 0.7, first + 1), *waits]

    return Timers((*exchange(0), *exchange(7), Wait(0, 0, 0, 0)), 7, 14)


@pytest.mark.parametrize("number", ["1", "2"])
def test_clients_of_a_real_kea_repeated_as_often_as_is_simulated(number):
    """Kea 2.2 with a fiftieth of a processor: its capacity, and perfdhcp's avalanche of six clients for each lease/s.

    The time until the last client has its lease is not judged: it jumps by a whole time-out with the luck of the last.
    """
    capacity, cold_start = ((COLD_STARTS / number / f"{name}.txt").read_text() for name in ("capacity", "avalanche"))
    rate = float(re.search(r"Rate: ([\d.]+) ", capacity)[1])
    clients, sent = (int(re.search(rf"{what} (\d+)", cold_start)[1]) for what in ("-R", r"sent \+ resent:"))
    edges = np.concatenate((np.arange(0, 200, 0.2), np.arange(200, 1000, 5)))
    server = Server(rate, 212_992 / 1280)  # bytes of the receive buffer, and what Linux counts for one request
    course = simulate(edges, flow(clients, 0, 0, edges), steady(0, edges), server, timers_of_perfdhcp())
    assert course.sent.sum() == pytest.approx(sent, rel=0.1)


def test_an_outage_leaves_each_client_where_its_timers_have_brought_it():
    """4 h of outage, 2 h lease, T1 1 h: everybody missed T1 3 to 4 h ago and repeats each 64 s by now."""
    clock = timers(4, 7200, 3600, 6300)
    due = after_outage(clock, 0, 350_000, 14_400, 3600, SECONDS)
    assert due.sum() == pytest.approx(350_000)
    assert due[clock.renewal :].sum() == 0, "all leases have ended"
    by_second = due.sum(axis=0)
    assert by_second[:64] == pytest.approx(np.full(64, 350_000 / 64), rel=0.02)
    assert by_second[64:].sum() == pytest.approx(0)
    # 6 h of outage, 2 h lease: 20,000 DHCPv6 clients followed one by one, without a lease after 15, 30, 45 and 60 min
    due = after_outage(timers(6, 7200, 2250, 3600), 0, 20_000, 21_600, 2250, 900 * np.arange(5.0))
    assert 20_000 - np.cumsum(due.sum(axis=0))[:4] == pytest.approx([14_649, 12_467, 7359, 732], abs=300)


def test_a_short_outage_with_a_long_lease_is_spread_over_hours():
    due = after_outage(V4, 0, 1000, 600, DAY / 2, SECONDS)
    assert due[V4.renewal + 1, -1] == pytest.approx(1000), "a quarter of T2 - T1 is more than an hour away"
    assert not after_outage(V4, 1000, 1000, 0, DAY / 2, SECONDS).any()


def test_a_server_that_falls_under_overload_takes_longer():
    """30 % less beyond the knee, as an agent simulation of 12,000 clients at 40 leases/s had it: 502 s for 347 s."""
    begun = flow(12_000, 0, 60, SECONDS)
    steadfast, falling = (
        simulate(SECONDS, begun, NOBODY, Server(40, 120, 1, 0, 0, goodput=goodput), V4).recovered_s or HOUR
        for goodput in ((), ((1.05, 0.7), (3.0, 0.7)))
    )
    assert steadfast == pytest.approx(347, rel=0.03)
    assert falling == pytest.approx(502, rel=0.1)
    server = Server(100, 0, goodput=((1.5, 0.8), (2.0, 0.6)))
    answered = [server.answers(asked) for asked in (50, 100, 125, 150, 175, 200, 900)]
    assert answered == pytest.approx([100, 100, 90, 80, 70, 60, 60])
