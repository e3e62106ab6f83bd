"""The headlines of the home page, and the panels below them."""

import pandas as pd
import pytest

from dropline.app import headlines

NOTHING = dict.fromkeys(
    (
        *("product", "product_version", "protocol", "backend", "threading", "threads", "ha_mode", "scenario"),
        *("testbed", "tool", "method", "campaign", "configuration", "qualifier", "rate_interpolated", "cpus"),
        *("ci_low", "ci_high", "description"),
    )
)
KEA = NOTHING | {
    **{"product": "Kea", "product_version": "2.2", "protocol": "DHCPv4", "backend": "memfile", "ha_mode": "none"},
    **{"threading": "single", "threads": 1.0, "rate": 12178.0, "rate_unit": "leases/s", "status": "bracketed"},
    **{"origin": "measured", "runs": 9, "interval_kind": "confidence", "ci_low": 12232.0, "ci_high": 13769.0},
    **{"findings": [], "quality": "ok", "campaign": "one"},
}
MULTI = KEA | {"threading": "multi", "threads": 4.0, "rate": 8488.0, "cpus": 2.0}
MYSQL = KEA | {"backend": "mysql", "rate": 1534.0}
PAIR = KEA | {"ha_mode": "hot-standby", "rate": 739.0, "runs": 1}


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([KEA, MULTI, MYSQL], ["memfile, 1 thread", "memfile, 4 threads", "mysql, 1 thread"]),
        ([KEA, PAIR], ["no HA", "hot standby"]),
        ([KEA], ["Kea"]),
        ([KEA, KEA | {"product_version": "2.4"}], ["2.2", "2.4"]),
        ([KEA, KEA | {"campaign": "two"}], ["Kea, one", "Kea, two"]),
        ([KEA, KEA], ["Kea", "Kea (2)"]),
        ([NOTHING | {"configuration": "a"}, NOTHING | {"configuration": "b"}], ["a", "b"]),
        ([MULTI | {"threads": float("nan")}, KEA], ["multi-threaded", "1 thread"]),
    ],
)
def test_a_set_up_is_named_by_what_not_all_share(rows, names):
    assert headlines.names(rows) == names


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({}, "Kea 2.2, DHCPv4, memfile: at least 12,180 leases/s"),
        ({"status": "never_exceeded", "ci_high": None}, "Kea 2.2, DHCPv4, memfile: at least 12,178 leases/s"),
        ({"status": "published", "origin": "published", "qualifier": "approx"}, "Kea 2.2, DHCPv4, memfile: about "),
        ({"product": None, "product_version": None, "name": "dnsperf-1"}, "DHCPv4, dnsperf-1: at least 12,180"),
    ],
)
def test_the_headline_names_product_set_up_and_figure(row, said):
    assert headlines.headline(KEA | {"name": "memfile"} | row, alone=False).startswith(said)
    assert headlines.headline(KEA | {"name": "Kea"}, alone=True) == "2.2, DHCPv4: at least 12,180 leases/s"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({}, "The limit is between 12,230 and 13,770 (95 %, 9 runs)."),
        ({"interval_kind": "bracket", "runs": 1}, "The limit is between 12,232 and 13,769 (bracket, 1 run)."),
        ({"ci_low": 9000.0, "ci_high": 20000.0}, "That is wide, ± 45 %: the runs differ."),
        ({"ci_high": None}, "No step lost too much (9 runs): offer a higher rate to find the limit."),
        ({"ci_low": None, "ci_high": None}, "From 9 runs."),
        ({"origin": "published"}, "Published in one."),
    ],
)
def test_it_is_said_how_well_a_figure_is_known(row, said):
    assert headlines.certainty(KEA | row).endswith(said)


def test_the_lead_is_over_set_ups_that_differ_in_one_thing_with_the_reason_where_it_is_known():
    older = KEA | {"product_version": "2.0", "rate": 6089.0}
    rows = [KEA, MULTI, older, MYSQL, MYSQL | {"rate": 100.0}, PAIR]
    assert headlines.lead(KEA, rows) == (
        "1.4 times as much as with 4 threads on 2 CPUs, 2 times Kea 2.0, 7.9 times mysql."
    )
    assert headlines.lead(KEA, [KEA]) == ""
    lmdb, mysql = (
        KEA | {"backend": "lmdb", "ci_low": 4000.0, "ci_high": 8000.0},
        MYSQL | {"ci_low": 2000.0, "ci_high": 4000.0},
    )
    assert headlines.lead(lmdb, [lmdb, mysql]) == "1 to 4 times mysql."
    assert "CPU" not in headlines.lead(KEA, [KEA, MULTI | {"cpus": 8.0}])


def test_set_ups_that_fail_at_once_are_counted_with_the_cause():
    failed = KEA | {"status": "exceeded_at_first_step", "findings": ["too_few_runs", "receive_buffer_overrun"]}
    said = "2 set-ups already lost too much at the first step"
    assert headlines.at_first_step([KEA, failed, failed]) == f"{said}: the receive buffer overflowed."
    assert headlines.at_first_step([failed | {"findings": []}] * 2) == f"{said}."
    assert headlines.at_first_step([KEA]) == ""
    assert headlines.fastest([failed | {"rate": 99999.0}, MULTI, KEA]) == KEA
    assert headlines.fastest([failed]) is None


@pytest.mark.parametrize(
    ("ratios", "verdicts", "said"),
    [
        ([0.64, 0.86], ["slower", "probably slower"], "HA costs 14 to 36 % of the rate"),
        ([0.5, 3.0], ["slower", "not testable"], "HA costs 50 % of the rate"),
        ([1.5, 18.2], ["faster", "faster"], "HA brings 1.5 to 18 times the rate"),
        ([0.5, 2.0], ["slower", "faster"], "HA brings 0.5 to 2 times the rate: some gain, others lose"),
        ([0.9, 1.1], ["no evidence", "not testable"], "HA: 0.9 to 1.1 times, no clear difference"),
    ],
)
def test_an_effect_is_that_of_the_pairs_of_which_it_is_known(ratios, verdicts, said):
    assert headlines.effect(pd.DataFrame({"ratio": ratios, "verdict": verdicts}), "HA") == said


def test_published_set_ups_take_the_row_of_the_measured_one_of_their_kind():
    published = [KEA | {"origin": "published", "product_version": "1.9", "product": each} for each in ("Kea", "other")]
    published.append(published[0] | {"backend": "mysql"})
    found = headlines.named([KEA, MULTI], published, most=1)
    assert [row["name"] for row in found] == ["1 thread", "4 threads", "1 thread", "mysql, 1 thread ◇"]
    assert [row["name"] for row in headlines.named([], published[:2], most=1)] == ["Kea"]


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ({}, "12,180"),
        ({"quality": "warn", "runs": 1}, "12,180 ⚠ · 1 run"),
        ({"status": "exceeded_at_first_step", "rate": 300.0, "ci_low": 0.0, "ci_high": 300.0}, "< 300"),
        ({"rate": None}, "-"),
    ],
)
def test_a_bar_is_labelled_with_its_figure_and_what_weakens_it(row, shown):
    assert headlines.figure(KEA | row) == shown


def test_pairs_are_named_by_what_not_all_share():
    pairs = [MULTI, MULTI | {"protocol": "DHCPv6"}, MULTI | {"ha_mode": "hot-standby"}]
    assert headlines.pair_names(pairs, "threading") == ["DHCPv4", "DHCPv6", "DHCPv4, hot standby"]
    assert headlines.pair_names([MULTI], "threading") == ["4 threads"]
    assert headlines.reasons(pairs, "threading") == "4 threads ran on 2 CPUs."
    assert headlines.reasons([PAIR | {"description": "Both shared a core."}], "ha_mode") == "Both shared a core."
