"""The headlines of the home page, and the panels below them."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from dropline.app import headlines, view_tables

NOTHING = dict.fromkeys(
    (
        *("product", "product_version", "protocol", "backend", "threading", "threads", "ha_mode", "scenario"),
        *("testbed", "tool", "method", "campaign", "configuration", "qualifier", "configuration_id", "cpus"),
        *("ci_low", "ci_high", "last_passing_rate", "first_exceeding_rate", "description"),
    )
)
KEA = NOTHING | {
    **{"product": "Kea", "product_version": "2.2", "protocol": "DHCPv4", "backend": "memfile", "ha_mode": "none"},
    **{"threading": "single", "threads": 1.0, "rate": 12178.0, "rate_unit": "leases/s", "status": "bracketed"},
    **{"origin": "measured", "runs": 9, "interval_kind": "confidence", "ci_low": 12232.0, "ci_high": 13769.0},
    **{"findings": [], "quality": "ok", "campaign": "one"},
}
MULTI = KEA | {"threading": "multi", "threads": 4.0, "rate": 8488.0, "cpus": 2.0, "ci_low": 8288.0, "ci_high": 9750.0}
MYSQL = KEA | {"backend": "mysql", "rate": 1534.0, "ci_low": 1400.0, "ci_high": 1780.0}
PAIR = KEA | {"ha_mode": "hot-standby", "rate": 739.0, "runs": 1}


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([KEA, MULTI, MYSQL], ["memfile, 1 thread", "memfile, 4 threads", "mysql, 1 thread"]),
        ([KEA, PAIR], ["no HA", "hot standby"]),
        ([KEA], ["Kea"]),
        ([NOTHING | {"configuration": "memfile", "backend": "memfile", "tool": "perfdhcp"}], ["memfile"]),
        ([KEA, KEA | {"product_version": "2.4"}], ["2.2", "2.4"]),
        ([KEA, KEA | {"campaign": "two"}], ["Kea, one", "Kea, two"]),
        ([KEA, KEA], ["Kea", "Kea (2)"]),
        (
            [NOTHING | {"configuration": each, "protocol": "DHCPv4", "tool": "perfdhcp"} for each in ("DHCPv4 a", "b")],
            ["a", "b"],
        ),
        ([MULTI | {"threads": float("nan")}, KEA], ["multi-threaded", "1 thread"]),
        ([KEA | {"method": "RFC 2544; 64 B frames; L1"}], ["Kea, 64 B frames"]),
    ],
)
def test_a_set_up_is_named_by_what_not_all_share(rows, names):
    assert [row["name"] for row in headlines.named(rows)] == names


SAID = yaml.safe_load(Path(__file__).with_name("headlines.yml").read_text("utf-8"))
EFFECTS, LEADS = SAID.pop("effect"), SAID.pop("lead")
CASES = [(function, row, said) for function, cases in SAID.items() for row, said in cases]


@pytest.mark.parametrize(("function", "row", "said"), CASES)
def test_a_set_up_is_told(function, row, said):
    alone = {"alone": False} if function == "headline" else {}
    assert getattr(headlines, function)(KEA | row, **alone) == said


def test_a_set_up_that_stands_alone_is_named_by_its_product():
    assert headlines.headline(KEA | {"name": "Kea"}, alone=True) == "Kea 2.2, DHCPv4: at least 12,178 leases/s"


def lead(best, *others, low=None, high=None):
    """Return the lead with the ratio of the figures, and the given ends of its interval, for each other set-up."""
    named = {str(place): row | {"configuration_id": str(place)} for place, row in enumerate(others)}
    tested = {
        name: {"ratio": best["rate"] / row["rate"], "ci_low": low, "ci_high": high} for name, row in named.items()
    }
    return headlines.lead(best, [best, *named.values()], lambda _, ids: {each: tested[each] for each in ids})


def test_the_lead_is_over_set_ups_that_differ_in_one_thing_with_the_reason_where_it_is_known():
    older = KEA | {"product_version": "2.0", "rate": 6089.0, "ci_low": 6000.0, "ci_high": 6200.0}
    elsewhere = MULTI | {"threads": 2.0, "testbed": "another"}
    others = [MULTI, elsewhere, older, older | {"rate": 100.0}, MYSQL, MYSQL | {"rate": 100.0}, PAIR]
    said = "At the limit 1.4 times as much as with 4 threads on 2 CPUs, 2 times Kea 2.0, 7.9 times mysql."
    assert lead(KEA, *others) == said
    assert lead(KEA) == ""
    assert "CPU" not in lead(KEA, MULTI | {"cpus": 8.0})


@pytest.mark.parametrize(("low", "high", "said"), LEADS)
def test_a_lead_is_as_exact_as_the_interval_of_the_tested_ratio(low, high, said):
    assert lead(KEA, MYSQL, low=low, high=high) == said


def test_brackets_of_single_runs_bound_a_lead():
    lmdb, mysql = KEA | {"ci_low": 4000.0, "ci_high": 8000.0}, MYSQL | {"ci_low": 2000.0, "ci_high": 4000.0}
    assert lead(lmdb, mysql) == "At the limit 1 to 4 times mysql."
    assert lead(lmdb, mysql | {"ci_low": 0.0}) == ""


def test_nothing_is_ahead_of_a_lower_bound_and_a_lower_bound_is_ahead_by_at_least_its_lead():
    unbounded = {"status": "never_exceeded", "ci_high": None}
    assert lead(KEA, MULTI | unbounded) == ""
    assert lead(KEA | unbounded, MULTI | {"ci_high": 13000.0}, MYSQL) == "At least 6.8 times mysql."


def test_set_ups_that_fail_at_once_are_counted_with_the_cause():
    failed = KEA | {"status": "exceeded_at_first_step", "findings": ["too_few_runs", "receive_buffer_overrun"]}
    said = "2 set-ups already lost too much at the first step"
    assert headlines.at_first_step([KEA, failed, failed]) == f"{said}: the receive buffer overflowed."
    assert headlines.at_first_step([failed | {"findings": []}] * 2) == f"{said}: start the ramp lower."
    assert headlines.at_first_step([KEA]) == ""
    assert headlines.fastest([failed | {"rate": 99999.0}, MULTI, KEA]) == KEA
    assert headlines.fastest([failed]) is None


@pytest.mark.parametrize(("ratios", "verdicts", "said"), EFFECTS["of_ratios"])
def test_an_effect_is_that_of_the_pairs_of_which_it_is_known(ratios, verdicts, said):
    assert headlines.effect(pd.DataFrame({"ratio": ratios, "verdict": verdicts, "sign": ""}), "HA") == said


@pytest.mark.parametrize(("low", "high", "verdict", "said", "shown"), EFFECTS["of_bounds"])
def test_where_a_ramp_ended_too_soon_the_known_end_of_the_interval_is_told(low, high, verdict, said, shown):
    ends = {"ratio": [None], "ci_low": [low], "ci_high": [high], "verdict": [verdict]}
    pairs = view_tables.bounded(pd.DataFrame(ends).astype(dict.fromkeys(("ratio", "ci_low", "ci_high"), float)))
    assert headlines.effect(pairs, "HA") == said
    assert view_tables.texts(pairs, headlines.ratio, "ratio", "verdict", "sign") == [shown]


@pytest.mark.parametrize(("ratios", "qualifiers", "said"), EFFECTS["of_published"])
def test_an_effect_over_published_figures_is_a_bound_where_they_are(ratios, qualifiers, said):
    ends = dict.fromkeys(("ci_low", "ci_high"), float("nan"))
    pairs = pd.DataFrame({"ratio": ratios, "ratio_qualifier": qualifiers, "verdict": "not testable", **ends})
    assert headlines.effect(view_tables.bounded(pairs), "HA") == said


def test_pairs_are_named_by_what_not_all_share():
    pairs = [MULTI, MULTI | {"protocol": "DHCPv6"}, MULTI | {"ha_mode": "hot-standby"}]
    assert headlines.pair_names(pairs, "threading") == ["DHCPv4", "DHCPv6", "DHCPv4, hot standby"]
    assert headlines.pair_names([MULTI], "threading") == ["memfile, 4 threads"]
    twice = [MULTI, MULTI | {"campaign": "two"}]
    assert headlines.pair_names(twice, "threading") == ["memfile, 4 threads (one)", "memfile, 4 threads (two)"]
    over = [KEA | {"reference": each} for each in ("mysql", "postgresql")]
    assert headlines.pair_names(over, "backend") == ["memfile over mysql", "memfile over postgresql"]
    both = [KEA, KEA | {"protocol": "DHCPv6"}]
    assert headlines.pair_names(both, "ip_version") == ["memfile, 1 thread", "memfile, 1 thread (2)"]
    assert headlines.reasons(pairs, "threading") == "4 threads ran on 2 CPUs."
    assert headlines.reasons([PAIR | {"description": "Both shared a core."}], "ha_mode") == "Both shared a core."
