"""What the readers of DNS Shotgun's and BNG Blaster's JSON make of files made after their sources and documentation."""

import json
from pathlib import Path

import pytest

from dropline.ingest.formats import Reject, Report, bngblaster, recognise, shotgun

CAPTURES = Path(__file__).parents[1] / "captures" / "other"
SHOTGUN = (CAPTURES / "shotgun.json").read_bytes()
BNGBLASTER = (CAPTURES / "bngblaster.json").read_bytes()


def changed(data, **values):
    document = json.loads(data)
    target = document.get("report", document)
    target |= {key.replace("_", "-") if "report" in document else key: value for key, value in values.items()}
    return json.dumps(document).encode()


def observed(report, metric):
    return [(row["label"], row["t_s"], row["value"]) for row in report.observations if row["metric"] == metric]


@pytest.mark.parametrize(("reader", "data"), [(shotgun, SHOTGUN), (bngblaster, BNGBLASTER)])
def test_each_is_recognised_by_its_reader_only(reader, data):
    assert recognise(data) is reader
    assert recognise(json.dumps(json.loads(data), indent=2).encode()) is reader
    assert recognise(b'{"tool": "dnsperf", "rate": 5}') is None


def test_shotgun_percentiles_leave_out_what_was_lost():
    (report,) = shotgun.parse(SHOTGUN)
    told = [observed(report, f"latency_p{percent}")[0][2] for percent in (50, 90, 95, 99)]
    assert told == [1.0, 1.0, 5.0, 40.0]
    assert observed(report, "latency_percentiles_of") == [(None, None, 995.0)]
    document = json.loads(SHOTGUN)
    document["stats_sum"]["latency"][1] = 0
    (report,) = shotgun.parse(json.dumps(document).encode())
    assert observed(report, "latency_p50") == []
    assert "does not hold all answers" in report.warnings[-1]


def lines(**header):
    """The same run as newer versions write it, after tools/merge-data.py: JSON Lines, in ms, with four bounds."""
    old = json.loads(SHOTGUN)

    def record(kind, stats):
        rcodes = {name[6:].upper(): count for name, count in stats.items() if name.startswith("rcode_") and count}
        return {
            "runid": "1",
            "type": kind,
            "since": stats["since_ms"],
            "until": stats["until_ms"],
            "queries": stats["requests"],
            "responses": stats["answers"],
            "discarded": 0,
            "response_rcodes": rcodes,
            "response_latency": {"bucket_counts": [900, 80, 15, 0, 5]},
            "conn_info": {"type": "tls_conn", "handshakes": stats["conn_handshakes"]},
        }

    header = {
        "runid": "1",
        "type": "header",
        "schema_version": "20221207",
        "generator": "dns-shotgun",
        "generator_version": "20261001",
        "time_units_per_sec": 1000,
        "timeout": 2000,
        "latency_bucket_boundaries": [1, 5, 40, 1000],
        "merged": True,
    } | header
    periods = [record("stats_periodic", period) for period in old["stats_periodic"]]
    every = [header, *periods, record("stats_sum", old["stats_sum"])]
    return "".join(json.dumps(each) + "\n" for each in every).encode()


def test_shotgun_s_json_lines_tell_what_its_json_told():
    (old,), (report,) = shotgun.parse(SHOTGUN), shotgun.parse(lines())
    assert recognise(lines()) is shotgun
    told = {"tool_version": "20261001", "method": "replay; tls; time-out 2 s", "details": report.facts["details"]}
    assert report.facts == old.facts | told
    assert json.loads(report.facts["details"])["transport"] == "tls"
    for metric in ("responses", "interval_sent", "interval_received", *(f"latency_p{n}" for n in (50, 90, 95, 99))):
        assert observed(report, metric) == observed(old, metric)


def test_shotgun_s_time_is_in_the_units_of_its_header():
    (report,) = shotgun.parse(lines(time_units_per_sec=1_000_000))
    assert (report.facts["duration_s"], observed(report, "latency_p95")) == (0.0025, [(None, None, 0.005)])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (lines().rpartition(b'{"runid"')[0], "ends before its `stats_sum`"),
        (lines(generator="kxdpgun"), "the JSON of kxdpgun"),
        (lines().partition(b"\n")[2], "without a `header`"),
    ],
)
def test_shotgun_s_json_lines_that_cannot_be_read_say_why(data, reason):
    (reject,) = shotgun.parse(data)
    assert reason in reject.reason


def test_shotgun_of_one_thread_is_no_whole_trial():
    (report,) = shotgun.parse(changed(SHOTGUN, merged=False, discarded=3))
    assert not report.facts["completed"]
    assert "share of one thread" in report.warnings[0]
    assert "3 requests could not be sent" in report.warnings[1]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (changed(SHOTGUN, version=20190101), "version 20190101, known is 20200527"),
        (changed(SHOTGUN, stats_sum={"requests": 5}), "no `requests` and `answers`"),
        (SHOTGUN[:2000], "damaged JSON"),
    ],
)
def test_shotgun_that_cannot_be_read_says_why(data, reason):
    (reject,) = shotgun.parse(data)
    assert isinstance(reject, Reject)
    assert reason in reject.reason


@pytest.mark.parametrize(("reader", "data"), [(shotgun, SHOTGUN), (bngblaster, BNGBLASTER)])
def test_json_that_is_cut_anywhere_gives_no_figure(reader, data):
    for end in range(0, len(data) - 2, 97):
        assert not [part for part in reader.parse(data[:end]) if isinstance(part, Report)]
