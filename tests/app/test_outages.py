"""The planner's model of outages, held to clients that are followed one by one with the timers of the RFCs."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from dropline.app import planner

HOUR, DAY = 3600.0, 86400.0


def next_attempt(version, now, waited, t1, t2, end):
    """When a client asks again that was not answered at `now`, in seconds of its lease, and how long it waits for that.

    RFC 2131, 4.4.5: half of what is left until T2, then until the lease ends, but at least a minute. RFC 8415, 18.2.4
    and 18.2.5: 10 s at first, then twice as long, at most 600 s; anew from T2 on.
    """
    limit = np.where(now < t2, t2, end)
    if version == 4:
        wait = np.maximum((limit - now) / 2, 60)
    else:
        wait = np.where((now == t1) | (now == t2), 10, np.minimum(2 * waited, 600))
    return np.minimum(now + wait, limit), wait


def requests(version, clients, lease, t1, t2, outage):
    """The moments after an outage at which clients ask a server that answers everybody, until T1 after it, in seconds.

    Leases began at any time. Also how many clients lost their lease.
    """
    random = np.random.default_rng(2131)
    began = random.uniform(-t1, 0, clients) - outage  # of the lease; T1 comes in the outage or after it
    now, waited = np.full(clients, t1), np.zeros(clients)
    while (unanswered := np.flatnonzero((began + now < 0) & (now < lease))).size:
        now[unanswered], waited[unanswered] = next_attempt(version, now[unanswered], waited[unanswered], t1, t2, lease)
    asked = began + now
    return asked[asked >= 0], int(np.count_nonzero(asked < 0))


# version, lease, T1 and T2 as shares of it, outage; a million clients need in the busiest minute: leases per second
OUTAGES = [
    pytest.param(4, DAY, 0.5, 0.875, HOUR, 47.5, id="24 h lease, 1 h down"),
    pytest.param(4, DAY, 0.5, 0.875, 6 * HOUR, 71, id="24 h lease, 6 h down"),
    pytest.param(4, 7 * DAY, 0.5, 0.875, DAY, 7.5, id="7-day lease, 24 h down"),
    (4, 4 * HOUR, 0.5, 0.875, 1.5 * HOUR, None),
    (4, 4 * HOUR, 0.5, 0.875, 2 * HOUR, None),
    (4, 2 * HOUR, 0.5, 0.5, 0.9 * HOUR, None),
    (4, 1800.0, 0.5, 0.875, 600.0, None),
    (6, DAY, 0.5, 0.8, HOUR, None),
    (6, 4000.0, 0.5, 0.8, 1200.0, None),
    (6, 7 * DAY, 0.5, 0.8, 12 * HOUR, None),
]


@pytest.mark.parametrize(("version", "lease", "t1_ratio", "t2_ratio", "outage", "known"), OUTAGES)
def test_the_return_after_an_outage_is_that_of_clients_followed_one_by_one(
    blank, version, lease, t1_ratio, t2_ratio, outage, known
):
    clients, lifetime = 1_000_000, lease * (0.625 if version == 6 else 1)
    asked, lost = requests(version, clients, lease, t1_ratio * lifetime, t2_ratio * lifetime, outage)
    inputs = {
        "clients": clients, "lease_s": lease, "outage_s": outage, "ip_version": version, "t1_ratio": t1_ratio,
        "t2_ratio": t2_ratio,
    }  # fmt: skip
    loads = planner.lps_needed(blank, inputs)
    assert lost == pytest.approx(loads["starting_clients"], abs=5000)
    followed = float(np.bincount((asked // 60).astype(int)).max() / 60)  # a second, in the busiest minute
    assert 0.97 * followed < loads["peak_lps"] < 1.08 * followed, (
        "on the safe side: who missed T1 is in the steady load, too"
    )
    if known:
        assert followed == pytest.approx(known, rel=0.04)
        assert loads["needed_lps"] == pytest.approx(followed, rel=0.03)
        assert lost == loads["recovery_lps"] == 0, "the speed of the server brings no renewing client back sooner"
    else:
        course = planner.course(inputs, loads, 1e9)
        assert course.served[:60].sum() == pytest.approx(np.count_nonzero(asked < 60), rel=0.04)


def test_the_course_brings_clients_back_when_they_come_that_are_followed(blank):
    """One hour down, leases of a day: for three and a half hours only who is due, then all who missed T1."""
    inputs = {"clients": 1e6, "lease_s": DAY, "outage_s": HOUR}
    asked, _ = requests(4, 1_000_000, DAY, DAY / 2, 0.875 * DAY, HOUR)
    loads = planner.lps_needed(blank, inputs)
    course = planner.course(inputs, loads, loads["needed_lps"])
    hours = np.arange(12) * HOUR
    answered = np.interp(hours, course.edges[1:], np.cumsum(course.served))
    assert np.diff(answered) == pytest.approx(np.histogram(asked, hours)[0], rel=0.03)
    assert loads["busiest_after_s"] == pytest.approx(3.5 * HOUR)
    assert course.recovered_s == 0


def test_who_has_just_the_steady_rate_is_overrun_hours_later(blank):
    """46 requests a second come after three and a half hours to a server of 24; the first hour shows nothing of it."""
    inputs = {"clients": 1e6, "lease_s": DAY, "outage_s": HOUR}
    course = planner.course(inputs, planner.lps_needed(blank, inputs), 24)
    hours = course.edges[1:] / HOUR
    assert not course.repeated[hours < 3.4].any()
    assert course.waiting[hours > 4.4].max() > 20_000
    assert course.waiting[np.searchsorted(hours, 4.5)] == pytest.approx((46.3 - 24) * HOUR, rel=0.03)
    inputs = {"clients": 200_000, "lease_s": DAY, "outage_s": 600}  # at half the rate 51,610, followed one by one
    course = planner.course(inputs, planner.lps_needed(blank, inputs), 2.315)
    assert course.without_lease[-1] == pytest.approx(51_610, rel=0.1)


def test_leases_given_together_are_renewed_together(blank):
    """350,000 leases of two hours within ten minutes: 583/s, and again each hour, six times the steady 97."""
    inputs = {"clients": 350_000, "lease_s": 2 * HOUR, "down_clients": 350_000, "boot_window_s": 600}
    loads = planner.lps_needed(blank, inputs)
    assert loads["echo_lps"] == pytest.approx(350_000 / 600)
    assert loads["echo_lps"] / loads["steady_lps"] == pytest.approx(6)
    course = planner.course(inputs, loads, loads["needed_lps"])
    rate = course.served / np.diff(course.edges)
    begun = course.edges[:-1]
    assert rate[begun < 600].mean() == pytest.approx(583.3, rel=0.01)
    assert rate[(begun >= HOUR) & (begun < HOUR + 590)].mean() == pytest.approx(583.3, rel=0.02)
    assert rate[(begun > 620) & (begun < HOUR)].max() == 0, "nobody's lease is of another age"
    assert course.served[begun < 2 * HOUR].sum() == pytest.approx(700_000)
    for own_lps, renewed in ((None, "583 leases/s, 6 times"), (100, "100 leases/s, 1 times")):
        told = "\n".join(planner.events_in_words(planner.answer(None, inputs, own_lps, calculator=blank)))
        assert f"after 60 min, and each T1 again, {renewed} the steady load" in told


def test_a_slower_server_flattens_the_echo_of_what_it_was_too_slow_for(blank):
    inputs = {"clients": 350_000, "lease_s": 2 * HOUR, "down_clients": 350_000, "boot_window_s": 60}
    course = planner.course(inputs, planner.lps_needed(blank, inputs), 300)
    later = course.edges[:-1] >= HOUR
    assert 350_000 / 300 < course.recovered_s < 2 * 350_000 / 300, "it makes offers whose requests it then drops"
    assert not (course.without_lease[later] >= 1).any(), "in the echo nobody is without a lease"
    assert (course.served / np.diff(course.edges))[later].max() == pytest.approx(300, rel=0.01)


LOADS = yaml.safe_load(Path(__file__).with_name("loads.yml").read_text("utf-8"))


@pytest.mark.parametrize(("inputs", "expected"), LOADS, ids=lambda value: str(value)[1:-1].replace("'", ""))
def test_loads_are_what_comes_out_by_hand(blank, inputs, expected):
    assert {name: planner.lps_needed(blank, inputs)[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    "inputs",
    [
        {"clients": 86400, "renewal_cost_ratio": 0.5},  # two clients a second, at one lease a second
        {"clients": 54000, "ip_version": 6, "leases_per_client": 2, "boot_ratio": 0.5},
        # while half of the clients boot, only the other half renews: 6 + 2 of the 6 + 4 leases a second
        {"clients": 7200, "lease_s": 3600, "boot_ratio": 0.5, "relay_ratio": 0.5},
        {"clients": 7200, "lease_s": 3600, "boot_ratio": 0.5, "ha_ratio": 0.5},
        {"clients": 7200, "lease_s": 3600, "boot_ratio": 0.5, "utilisation_ratio": 0.5},
    ],
)
def test_with_what_is_needed_nobody_waits_or_repeats_and_with_less_many_do(blank, inputs):
    loads = planner.lps_needed(blank, inputs)
    enough = planner.course(inputs, loads, loads["needed_lps"])
    assert not enough.repeated.any()
    assert not enough.waiting.max() > 1e-6
    short = planner.course(inputs, loads, 0.7 * loads["needed_lps"])
    assert short.repeated.any()
    assert short.waiting.max() > 100


@pytest.mark.parametrize("parameter", planner.PARAMETERS, ids=lambda parameter: parameter.name)
def test_each_input_is_taken_up_to_its_limits_and_refused_beyond_them_by_name(blank, parameter):
    base = {"clients": 100, "outage_s": 100, "ip_version": 6, "t1_ratio": 0.01}
    within = {"t2_ratio": 0.02} if parameter.name == "t2_ratio" else {}
    if parameter.name == "t1_ratio":
        within = {"t2_ratio": 1}
    for value in (parameter.minimum, parameter.maximum):
        assert planner.lps_needed(blank, base | within | {parameter.name: value})["needed_lps"] >= 0
    expected = f"{parameter.name} is .*; expected {parameter.minimum:g} to {parameter.maximum:g}".replace("+", r"\+")
    for value in (parameter.minimum - 0.001, parameter.maximum * 1.001, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=expected):
            planner.lps_needed(blank, base | {parameter.name: value})


@pytest.mark.parametrize(
    ("inputs", "complaint"),
    [
        ({"t1_ratio": 0.9, "t2_ratio": 0.5}, "t1_ratio is 0.9 and t2_ratio 0.5; expected t1_ratio to be no larger"),
        ({"t1_ratio": 0.9}, "t1_ratio is 0.9 and t2_ratio 0.875; expected"),
        ({"t1_ratio": 0.85, "ip_version": 6}, "t1_ratio is 0.85 and t2_ratio 0.8; expected"),
        ({"first_timeout_s": 100}, "first_timeout_s is 100.* and longest_timeout_s 64.*; expected"),
        ({"ip_version": 5}, "ip_version is 5.*; expected 4 or 6"),
        ({"preferred_ratio": 0.6}, "preferred_ratio is 0.6; only a lease of DHCPv6"),
    ],
)
def test_inputs_out_of_order_are_errors_and_not_answers(blank, inputs, complaint):
    with pytest.raises(ValueError, match=complaint):
        planner.lps_needed(blank, inputs)
    with pytest.raises(Exception, match=complaint):
        blank.cursor().execute(planner.sql(inputs).replace("*", "needed_lps")).fetchall()
