"""The gate before the lake: which rows it refuses, which it lets pass, and what it remembers."""

import json
import random
import shutil
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dropline.expectations import check_lake, gate
from dropline.expectations.suite import LAKE, Suite, sql
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.ingest.parquet import sha256_of
from dropline.ingest.schema import TABLES
from dropline.ingest.verification import batch_of
from tests.lakes import rewritten

CAPTURES = Path(__file__).parents[1] / "captures" / "perfdhcp"
LATER = datetime.now(UTC) + timedelta(days=3)


def lines(*counts):
    before = [(0, 0), *counts]
    return [
        {"position": position, "exchange": "DISCOVER-OFFER", "sent": sent, "received": received}
        | {"interval_sent": sent - before[position][0], "interval_received": received - before[position][1]}
        for position, (sent, received) in enumerate(counts)
    ]


def at(*clock, year=2026):
    return datetime(year, 11, 20, *clock, tzinfo=UTC)


# finding -> what is changed in a trial of which nothing else is wrong
BROKEN = {
    "trial_id_missing": {"trial": {"trial_id": " "}},
    "campaign_missing": {"trial": {"campaign": ""}},
    "source_path_missing": {"trial": {"source_path": ""}},
    "tool_missing": {"trial": {"tool": ""}},
    "negative_count": {"trial": {"malformed": -1}},
    "negative_rate": {"trial": {"achieved_rate": -0.5}},
    "trial_received_exceeds_sent": {"trial": {"received": 4439}},
    "answers_duplicated": {"trial": {"tool": "dnsblast", "received": 6936}},
    "nothing_sent": {"trial": {"sent": 0, "received": 0}},
    "protocol_unknown": {"trial": {"protocol": "DHPCv4"}},
    "rate_unit_missing": {"trial": {"rate_unit": None}},
    "achieved_exceeds_offered": {"trial": {"achieved_rate": 757.0}},
    # 10 Mbit/s / (8 x 2 x 322 bytes) = 1,940.99 leases/s
    "rate_exceeds_wire": {
        "trial": {"achieved_rate": 1941.0, "offered_rate": None},
        "host": {"nic_speed_mbps": 10.0},
    },
    "duration_not_positive": {"trial": {"duration_s": 0.0}},
    "ends_before_start": {"trial": {"ended_at": at(10, 59)}},
    # 4,438 packets are 2,219 leases, which take 3 s at 740/s
    "elapsed_too_short": {"trial": {"ended_at": at(11, 0, 1)}},
    "elapsed_too_long": {"trial": {"ended_at": at(11, 1, 5)}},
    "starts_in_future": {"trial": {"started_at": LATER, "ended_at": LATER + timedelta(seconds=3)}},
    "starts_before_2000": {"trial": {"started_at": at(11, year=1999), "ended_at": at(11, 0, 3, year=1999)}},
    "threads_below_one": {"trial": {"threads": 0}},
    "single_threaded_with_threads": {"trial": {"threading": "single", "threads": 2}},
    "received_exceeds_sent": {"second": {"received": 2220, "drops": 0}},
    "negative_exchange_count": {"first": {"orphans": -1}},
    "rejected_exceeds_received": {"second": {"rejected": 2219}},
    "drop_ratio_out_of_range": {"second": {"drop_ratio": 1.00045}},
    "min_delay_exceeds_avg": {"first": {"min_delay_ms": 0.309}},
    "avg_delay_exceeds_max": {"first": {"avg_delay_ms": 3.864}},
    "drops_inconsistent": {"second": {"drops": 2, "drop_ratio_printed": "0.090"}},
    "drop_ratio_misprinted": {"second": {"drop_ratio_printed": "0.046"}},
    "second_exchange_exceeds_first": {"first": {"received": 2218, "drops": 1}},
    "negative_delay": {"first": {"min_delay_ms": -0.098}},
    "stdev_exceeds_half_range": {"first": {"stdev_delay_ms": 1.9}},
    "delay_exceeds_trial": {"first": {"max_delay_ms": 4001.0}},
    # 2,219 packets in 3 s: 20.5 of them within 27.746 ms
    "loss_in_flight": {
        "second": {"received": 2199, "drops": 20, "drop_ratio": 0.00901, "drop_ratio_printed": "0.901"},
    },
    "negative_interim_count": {"lines": lines((-1, -1), (1479, 1479))},
    "sent_counter_falls": {"lines": lines((1479, 739), (1478, 740))},
    "received_counter_falls": {"lines": lines((739, 739), (1479, 738))},
    "interim_received_exceeds_sent": {"lines": lines((739, 740), (1479, 1479))},
    "interim_sent_exceeds_final": {"lines": lines((739, 739), (2220, 1479))},
    "interim_received_exceeds_final": {"lines": lines((739, 739), (2220, 2220))},
    "negative_observation": {"observation": {"value": -1.0}},
    "observed_ratio_out_of_range": {"observation": {"metric": "busy", "value": 97.0, "unit": "ratio"}},
    "cpu_below_zero": {"observation": {"metric": "server_cpu", "value": -1.0, "unit": "%"}},
    "cpu_exceeds_threads": {"observation": {"metric": "server_cpu", "value": 201.0, "unit": "%"}},
    # 2 threads x (2 x 3 s + 60 s)
    "cpu_time_exceeds_trial": {"observation": {"metric": "server_cpu_s", "value": 133.0, "unit": "s"}},
    "observed_before_start": {"observation": {"t_s": -1.0}},
    "observed_in_future": {"observation": {"observed_at": LATER}},
    "observed_before_2000": {"observation": {"observed_at": at(11, year=1970)}},
    "observed_unit_unknown": {"observation": {"unit": "furlongs"}},
    "sockets_exceed_cores": {"host": {"cpu_sockets": 3}},
    "cores_exceed_threads": {"host": {"cpu_cores": 3}},
    "cpu_clock_not_positive": {"host": {"cpu_mhz": 0.0}},
    "memory_not_positive": {"host": {"memory_bytes": 0}},
    "nic_speed_not_positive": {"host": {"nic_speed_mbps": -1.0}},
    "cpu_clock_too_high": {"host": {"cpu_mhz": 2.1e9}},
    "memory_too_small": {"host": {"memory_bytes": 4096}},
    "nic_speed_too_high": {"host": {"nic_speed_mbps": 1e9}},
    "renewal_after_rebinding": {"server": {"renew_timer_s": 1801.0}},
    "timer_after_lease_end": {"server": {"valid_lifetime_s": 1799.0}},
    "ha_without_partner": {"server": {"ha_peers": 1}},
    "timer_not_positive": {"server": {"renew_timer_s": 0.0}},
    "negative_size": {"server": {"reservations": -1}},
    "pool_without_addresses": {"server": {"pools": 3, "pool_addresses": 2.0}},
    "single_threaded_configuration_with_threads": {"server": {"threads": 4}},
    "trials_miscounted": {"file": {"trials": 2}},
    "negative_file_size": {"file": {"size_bytes": -1}},
    "file_status_unknown": {"file": {"status": "lost"}},
    "rejected_without_reason": {"file": {"status": "partly_rejected"}},
    "file_from_future": {"file": {"modified_at": LATER}},
    "reject_line_below_one": {"rejects": {"line": 0}},
    "reject_reason_missing": {"rejects": {"reason": " "}},
    "reject_hint_missing": {"rejects": {"hint": ""}},
    "negative_discard": {"campaign": {"discard_lowest": -1}},
    "discard_leaves_no_run": {"campaign": {"discard_from_runs": 2}},
    "unknown_exceed_ratio": {"campaign": {"exceed_ratio": 0.25}},
    "campaign_in_future": {"campaign": {"started_on": date(2099, 1, 1)}},
    "campaign_before_2000": {"campaign": {"started_on": date(1999, 12, 31)}},
    "figure_not_positive": {"figures": {"value": 0.0}},
    "figure_qualifier_unknown": {"figures": {"qualifier": "roughly"}},
    "figure_ip_version_contradicts_protocol": {"figures": {"protocol": "DHCPv6"}},
    "figure_threads_below_one": {"figures": {"threads": 0}},
    "figure_repetitions_implausible": {"figures": {"repetitions": 10_001}},
    "figure_discards_all": {"figures": {"repetitions": 2}},
    "figure_condition_negative": {"figures": {"drop_time_s": -1.0}},
    "figure_loss_limit_out_of_range": {"figures": {"loss_limit_ratio": 2.5}},
    "figure_from_future": {"figures": {"source_date": "2099-01"}},
    "figure_before_dns": {"figures": {"source_date": "1921-10", "test_date": None}},
    "figure_tested_after_publication": {"figures": {"test_date": "2022-03-01"}},
}
TWICE = ("trial_id_repeated", "file_repeated")
# What else is wrong with them: the same defect, seen from another side.
ALSO = {
    "campaign_missing": {"trials_miscounted"},
    "source_path_missing": {"trials_miscounted"},
    "received_exceeds_sent": {"drop_ratio_misprinted"},
    "second_exchange_exceeds_first": {"drop_ratio_misprinted"},
    "interim_received_exceeds_final": {"interim_sent_exceeds_final"},
    "ends_before_start": {"elapsed_too_short"},
    "negative_interim_count": {"sent_counter_falls", "received_counter_falls"},
    "memory_not_positive": {"memory_too_small"},
}

# Odd, but nothing is wrong with them.
HARMLESS = {
    "no_answers": {
        "lines": lines((739, 0)),
        "second": {"sent": 0, "received": 0, "drops": 0, "drop_ratio": None}
        | {"drop_ratio_printed": "-nan", "min_delay_ms": None, "avg_delay_ms": None}
        | {"max_delay_ms": None, "stdev_delay_ms": None},
    },
    "infinite_delay": {"first": {"min_delay_ms": None, "avg_delay_ms": None}},
    "orphans": {"first": {"orphans": 200}},
    "three_digits_since_kea_3": {
        "first": {"sent": 10000, "received": 9996, "drops": 4} | {"drop_ratio": 0.0004, "drop_ratio_printed": "0.04"},
        "second": {"sent": 2219, "received": 1768, "drops": 451} | {"drop_ratio": 0.203, "drop_ratio_printed": "20.3"},
    },
    "drops_fall_in_flight": {"lines": lines((1000, 674), (1200, 1159))},
    "loopback_has_no_wire": {
        "trial": {"command": "perfdhcp -4 -r 740 127.0.0.1", "achieved_rate": 5000.0, "offered_rate": None},
        "host": {"nic_speed_mbps": 10.0},
    },
    "as_fast_as_the_wire": {"trial": {"achieved_rate": 1940.9, "offered_rate": None}, "host": {"nic_speed_mbps": 10.0}},
    "ended_early_by_a_limit": {"trial": {"sent": 1480, "received": 1480, "ended_at": at(11, 0, 1)}},
    "a_loss_that_is_more_than_in_flight": {
        "second": {"received": 2198, "drops": 21, "drop_ratio": 0.00946, "drop_ratio_printed": "0.946"},
    },
    "a_loss_too_small_to_matter": {"second": {"max_delay_ms": 900.0, "stdev_delay_ms": 30.0}},
    "waited_for_what_was_in_flight": {
        "trial": {"wait_s": 1.0},
        "second": {"received": 2199, "drops": 20, "drop_ratio": 0.00901, "drop_ratio_printed": "0.901"},
    },
    "described_campaign": {"campaign": {}},
    "whole_figure": {"figures": {}},
    "a_year_is_all_that_is_known": {"figures": {"source_date": "2021", "test_date": None}},
    "refused_with_reason": {"rejects": {}, "file": {"status": "partly_rejected"}},
    "busy_on_all_threads": {"observation": {"metric": "server_cpu", "value": 200.0, "unit": "%"}},
    "a_plain_count": {"observation": {"metric": "tcp.MaxConn", "value": -1.0, "unit": None}},
    "avalanche_offers_all_at_once": {"trial": {"scenario": "avalanche", "offered_rate": 100.0, "achieved_rate": 494.2}},
    "nothing_known": {
        "trial": dict.fromkeys(("protocol", "offered_rate", "achieved_rate", "rate_unit", "sent", "received"))
        | {"started_at": None, "threads": None, "duration_s": None}
    },
}


@pytest.fixture(scope="module")
def findings_of(batch, tmp_path_factory):
    """The findings of every broken and every harmless trial, all in one batch."""
    root = tmp_path_factory.mktemp("gate")
    rows = batch()
    for name, changes in {**BROKEN, **HARMLESS}.items():
        rows.trial(name, changes)
    for name in TWICE:
        rows.trial(name)
    rows.rows["trials"].append({**rows.rows["trials"][-2], "source_path": "file_repeated.txt"})
    rows.file("file_repeated.txt", {"trials": 2})
    rows.commit(root / "lake")
    found = {}
    for finding in check_lake(root / "lake", root / "quality"):
        name = (finding.trial_id or finding.source_path).removesuffix(".txt")
        found.setdefault(name, set()).add(finding.finding)
    return found


def test_every_expectation_of_the_lake_has_a_row_that_breaks_it():
    assert {*BROKEN, *TWICE} == {code for suite in LAKE for code in suite.expectations}


@pytest.mark.parametrize("finding", BROKEN)
def test_a_row_built_to_break_an_expectation_breaks_it_and_no_other(findings_of, finding):
    assert findings_of[finding] == {finding} | ALSO.get(finding, set())


@pytest.mark.parametrize("finding", TWICE)
def test_a_trial_or_file_that_stands_twice_in_a_batch_is_found(findings_of, finding):
    assert finding in findings_of[finding]


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_odd_but_possible_passes(findings_of, name):
    assert name not in findings_of


def test_the_examples_give_no_warning(warehouse_home, tmp_path):
    shutil.copytree(warehouse_home / "quality", tmp_path / "quality")
    found = check_lake(warehouse_home / "lake", tmp_path / "quality")
    assert {(each.finding, each.severity) for each in found} == {("loss_in_flight", "info")}


@pytest.mark.parametrize(
    ("position", "printed"),
    [(0, "%.6g"), (1, "%.3f"), (1, "%.3g")],
    ids=["first exchange", "further exchange up to Kea 2.x", "further exchange since Kea 3.0"],
)
def test_every_ratio_that_perfdhcp_can_print_passes(position, printed):
    chosen = random.Random(2544)
    sizes = [10 ** chosen.randint(0, 8) for _ in range(5000)]
    counts = [(chosen.randint(0, size), size + chosen.randint(0, size)) for size in sizes]
    rows = [
        {"trial_id": "t", "batch": "b", "position": position, "drops": drops, "sent": sent}
        | {"drop_ratio_printed": printed % (100 * drops / sent)}
        for drops, sent in counts
    ]
    relations = {"trials": [{"trial_id": "t", "batch": "b", "tool": "perfdhcp"}], "exchanges": rows, "intervals": []}
    with duckdb.connect() as connection:
        for name, content in relations.items():
            columns = TABLES[name].names
            plain = pa.schema([field.with_nullable(True) for field in TABLES[name]])
            filled = {key: [row.get(key) for row in content] for key in columns}
            connection.register(name, pa.table(filled, schema=plain))
        query = sql("lake/exchanges")
        checked = f"select count(ratio_off), count(*) filter (where ratio_off > half_a_digit) from ({query})"
        assert connection.execute(checked).fetchall() == [(5000, 0)]


def test_what_perfdhcp_really_prints_in_odd_modes_never_stops_the_build(tmp_path):
    ingest([CAPTURES / "odd"], Lake.create(tmp_path / "lake"))
    found = check_lake(tmp_path / "lake", tmp_path / "quality")
    assert [finding for finding in found if finding.severity == "critical"] == []


def test_a_finding_names_the_numbers_and_where_they_come_from(batch, home):
    name = batch().trial("t1", {"second": {"received": 2220, "drops": 0}}).commit(home.lake)
    found = check_lake(home.lake, home.quality)
    one = next(f for f in found if f.finding == "received_exceeds_sent")
    assert (one.severity, one.batch, one.campaign) == ("critical", name, "by-hand")
    assert (one.source_path, one.trial_id) == ("t1.txt", "t1")
    assert one.detail == "REQUEST-ACK: received 2220 answers to 2219 packets sent"


def test_the_findings_files_hold_what_the_models_read(batch, home):
    name = batch().trial("t1", {"trial": {"threads": 0}}).commit(home.lake)
    check_lake(home.lake, home.quality)
    folder = home.quality / "findings"
    files = {batch_of(file): file for file in folder.iterdir()}
    assert files.keys() == {"00000000-empty", name}
    assert {batch: file.name.split(".")[1] for batch, file in files.items()} == {
        b: sha256_of(f) for b, f in files.items()
    }
    rows = pq.read_table(files[name]).to_pylist()
    detail = "the server is said to have 0 threads"
    keys = {"batch": name, "campaign": "by-hand", "source_path": "t1.txt", "trial_id": "t1"}
    assert rows == [{"finding": "threads_below_one", "severity": "warning", **keys, "detail": detail}]


def test_the_newest_version_of_a_file_is_judged_by_itself(batch, home):
    batch().trial("t1", {"trial": {"malformed": -1}}).trial("t2").commit(home.lake)
    assert [f.trial_id for f in check_lake(home.lake, home.quality)] == ["t1"]
    batch().trial("t1").commit(home.lake)
    assert check_lake(home.lake, home.quality) == []
    newest = batch().trial("t1", {"second": {"stdev_delay_ms": 14.0}}).commit(home.lake)
    found = check_lake(home.lake, home.quality)
    assert [(each.finding, each.batch) for each in found] == [("stdev_exceeds_half_range", newest)]


def test_a_batch_is_checked_once_and_again_when_the_suites_change(batch, home, monkeypatch):
    batch().trial("t1").commit(home.lake)
    told = []
    check_lake(home.lake, home.quality, progress=told.append)
    assert told == [f"checking {suite.name}" for suite in LAKE]
    told.clear()
    check_lake(home.lake, home.quality, progress=told.append)
    assert told == []
    first = LAKE[0]
    fewer = (Suite(first.name, first.query, dict([*first.expectations.items()][1:])), *LAKE[1:])
    monkeypatch.setattr(gate, "LAKE", fewer)
    check_lake(home.lake, home.quality, progress=told.append)
    assert told == [f"checking {suite.name}" for suite in fewer]


def test_a_torn_findings_file_is_written_again(batch, home):
    name = batch().trial("t1", {"trial": {"threads": 0}}).commit(home.lake)
    before = check_lake(home.lake, home.quality)
    (file,) = (home.quality / "findings").glob(f"lake-{name}.*")
    file.write_bytes(file.read_bytes()[:100])
    assert check_lake(home.lake, home.quality) == before


def test_a_batch_that_is_gone_takes_its_findings_along(batch, home):
    batch().trial("t1", {"trial": {"threads": 0}}).commit(home.lake)
    check_lake(home.lake, home.quality)
    (home.lake / "log" / "00000001.json").unlink()
    assert check_lake(home.lake, home.quality) == []
    assert [batch_of(file) for file in (home.quality / "findings").iterdir()] == ["00000000-empty"]


def test_gate_json_counts_expectations_by_suite(batch, home):
    rows = batch().trial("t1", {"trial": {"threads": 0}}).trial("t2", {"trial": {"threads": 0}})
    rows.trial("t3", {"trial": {"malformed": -1}}).commit(home.lake)
    check_lake(home.lake, home.quality)
    results = json.loads((home.quality / "gate.json").read_text())["lake"]["suites"]
    assert [one["suite"] for one in results] == [suite.name for suite in LAKE]
    trials = results[0]
    assert trials["expectations"] == trials["successes"] + trials["failures"]
    assert trials["findings"] == {"negative_count": 1, "threads_below_one": 2}
    assert trials["severity"] == "critical"
    assert {one["failures"] for one in results[1:]} == {0}


def test_a_batch_that_lacks_columns_of_today_is_checked_by_what_it_has(batch, home):
    batch().trial("t1", {"trial": {"threads": 0}}).commit(home.lake)
    rewritten(Lake(home.lake), "trials", lambda rows: rows.drop_columns(["wait_s", "threading"]))
    assert [each.finding for each in check_lake(home.lake, home.quality)] == ["threads_below_one"]
