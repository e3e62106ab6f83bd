"""What the readers of DNS generators make of real captures and of variants derived from them.

The captures are of dnsblast 1be795a, dnsperf and resperf 2.10.0, flame 0.11.0, dnspyre 3.4.1,
dnstrace 082df79 and kxdpgun 3.2.6 against PowerDNS 4.7.3; that of queryperf is made after its
source. `expected.tsv` beside them tells what
each of them comes to.
"""

import csv
import json
import re
from pathlib import Path

import pytest

from dropline.ingest.formats import (
    Reject,
    Report,
    dnsblast,
    dnsperf,
    dnspyre,
    dnstrace,
    flame,
    kxdpgun,
    perfdhcp,
    queryperf,
    resperf,
)
from dropline.ingest.formats.dnstrace import duration_s

CAPTURES = Path(__file__).parents[1] / "captures" / "dns"
_READERS = (dnsblast, dnsperf, resperf, flame, dnspyre, dnstrace, kxdpgun, queryperf)
READERS = {reader.NAME: reader for reader in _READERS}
with (CAPTURES / "expected.tsv").open(newline="") as file:
    TRIALS = {row["capture"]: row for row in csv.DictReader(file, delimiter="\t")}

# Capture -> (reader, line, key words of the reason, key words of the hint).
REJECTS = {
    "dnsblast-odd/ipv6-bracketed/dnsblast.err": (dnsblast, 1, "Name or service", "without brackets"),
    "dnsblast-odd/no-args/dnsblast.out": (dnsblast, 2, "usage text", "exit code 0 means nothing"),
    "dnsblast-odd/port-0/dnsblast.err": (dnsblast, 1, "sendto: Invalid argument", "port from 1"),
    "dnsblast-odd/wrong-port-name/dnsblast.err": (dnsblast, 1, "Servname", "port as a number"),
    "tools/dnsperf/bad-datafile/dnsperf.out": (dnsperf, 1, "before it sent anything", "2>&1"),
    "tools/dnsperf/no-args-h/dnsperf.err": (dnsperf, 1, "usage text", "without -h"),
    "tools/dnsperf/no-args-h/dnsperf.out": (dnsperf, 1, "before it sent anything", "2>&1"),
    "tools/dnsperf/wrong-host/dnsperf.err": (dnsperf, 2, "no-such-host.invalid", "-s an address"),
    "tools/dnsperf/wrong-host/dnsperf.out": (dnsperf, 1, "before it sent anything", "2>&1"),
    "tools/kxdpgun/no-arp-host.err": (kxdpgun, 1, "remote MAC", "ping the target"),
}

# What lies beside the outputs and is none: nobody may take it for one.
BESIDE = {
    "dnsblast-odd/ipv6-bracketed/dnsblast.out",
    "dnsblast-odd/port-0/dnsblast.out",
    "dnsblast-odd/pps-0/dnsblast.out",
    "dnsblast-odd/pps-not-a-number/dnsblast.out",
    "dnsblast-odd/stall-prone-rate/dnsblast.out",
    "dnsblast-odd/wrong-port-name/dnsblast.out",
    "dnsblast/lmdb/r1/07500pps/dnsblast.out",
    "dnsblast/mysql/r2/07500pps/dnsblast.out",
    "tools/dnsperf/bad-datafile/dnsperf.err",
    "tools/dnsperf/bad-lines/dnsperf.err",
    "tools/dnspyre/lmdb-color-progress/dnspyre.err",
    "tools/dnspyre/lmdb-json/dist.csv",
    "tools/dnspyre/lmdb-requestlog/requests.log",
    "tools/dnspyre/mysql-json/dist.csv",
    "tools/dnstrace/lmdb-default/dist.csv",
    "tools/dnstrace/mysql-default/dist.csv",
    "tools/flame/lmdb-v99/flame.err",
    "tools/kdig/lmdb/kdig.out",
    "tools/kdig/mysql/kdig.out",
    "tools/kdig/server-down/kdig.err",
    "tools/kdig/server-down/kdig.out",
    "tools/kxdpgun/no-arp-host.out",
    "tools/resperf/lmdb-sigint/resperf.out",
}


def capture(name: str) -> bytes:
    return (CAPTURES / name).read_bytes()


def report(reader, data: bytes) -> Report:
    (part,) = reader.parse(data)
    assert isinstance(part, Report), part
    return part


def reject(reader, data: bytes) -> Reject:
    (part,) = reader.parse(data)
    assert isinstance(part, Reject), part
    return part


def details(found: Report) -> dict:
    return json.loads(found.facts["details"])


def observed(found: Report, metric: str) -> list[tuple]:
    """Return (label, t_s, value, unit) of all observations of one metric."""
    return [
        (row["label"], row["t_s"], row["value"], row["unit"]) for row in found.observations if row["metric"] == metric
    ]


def value(found: Report, metric: str) -> float:
    """Return the one value of a metric that is of the whole run."""
    (only,) = [row[2] for row in observed(found, metric) if row[1] is None]
    return only


def responses(found: Report) -> dict[str, int]:
    return {label: count for label, _, count, _ in observed(found, "responses")}


def test_every_capture_has_its_line_in_a_table() -> None:
    files = {path.relative_to(CAPTURES).as_posix() for path in CAPTURES.rglob("*") if path.is_file()}
    ours = {name for name in files if not name.endswith(("meta.json", "expected.tsv")) and "server/" not in name}
    assert ours == TRIALS.keys() | REJECTS.keys() | BESIDE


@pytest.mark.parametrize("name", TRIALS)
def test_capture_is_the_trial_that_the_table_tells(name: str) -> None:
    row = TRIALS[name]
    found = report(READERS[row["reader"]], capture(name))
    facts = found.facts
    assert found.line == 1
    for column in ("sent", "received", "dropped"):
        assert facts[column] == (int(row[column]) if row[column] else None)
    assert facts["achieved_rate"] == (float(row["achieved_rate"]) if row["achieved_rate"] else None)
    assert facts["completed"] is (row["completed"] == "yes")
    said = row["warnings"].split("; ") if row["warnings"] else []
    assert len(found.warnings) == len(said), found.warnings
    for words, warning in zip(said, found.warnings, strict=True):
        assert words in warning


@pytest.mark.parametrize("name", REJECTS)
def test_output_without_a_report_is_rejected_with_what_to_do(name: str) -> None:
    reader, line, reason, hint = REJECTS[name]
    found = reject(reader, capture(name))
    assert found.line == line
    assert reason in found.reason
    assert hint in found.hint


def test_each_output_is_recognised_by_its_reader_only() -> None:
    wanted = {name: row["reader"] for name, row in TRIALS.items()}
    wanted |= {name: reader.NAME for name, (reader, *_) in REJECTS.items()}
    for path in CAPTURES.rglob("*"):
        name = path.relative_to(CAPTURES).as_posix()
        if path.is_file() and name != "expected.tsv":
            head = path.read_bytes()[: 64 * 1024]
            readers = [r.NAME for r in (*READERS.values(), perfdhcp) if r.sniff(head)]
            assert readers == ([wanted[name]] if name in wanted else []), name


# --- dnsblast


def test_dnsblast_status_lines_are_kept_by_their_position() -> None:
    found = report(dnsblast, capture("dnsblast-odd/count-1/dnsblast.out"))
    assert observed(found, "sent") == [("1", None, 1, "queries"), ("2", None, 1, "queries")]
    assert observed(found, "received")[-1] == ("2", None, 1, "responses")
    assert observed(found, "reply_rate") == [("1", None, 0.0, "queries/s"), ("2", None, 10.0, "queries/s")]
    assert details(found)["ratio_printed"] == "100.00"
    assert found.facts["offered_rate"] is None  # dnsblast does not print it


@pytest.mark.parametrize(
    ("change", "completed"),
    [
        (lambda text: text, True),
        (lambda text: text.replace(b"\r", b"\n"), True),  # piped through tr
        (lambda text: text.replace(b"\r", b"\n").replace(b"\n", b"\r\n"), True),  # in a terminal
        (lambda text: text.replace(b"\r", b""), True),
        (lambda text: text.replace(b"\r\n", b"\r\r\n"), True),
        (lambda text: text.removesuffix(b"\n"), False),
        (lambda text: text.removesuffix(b"\r\n"), False),
        (lambda text: text.replace(b"\r", b"\n").removesuffix(b"\n"), False),
    ],
)
def test_dnsblast_has_ended_only_where_its_last_newline_stands(change, completed: bool) -> None:
    # The first status of a fast server has as many replies as queries: that is no end.
    data = capture("dnsblast-odd/all-servfail/dnsblast.out")
    found = report(dnsblast, change(data))
    assert found.facts["completed"] is completed
    assert (found.facts["sent"], found.facts["received"]) == (2000, 2000)
    assert len(observed(found, "sent")) == 7


def test_dnsblast_runs_one_after_the_other_are_told_apart() -> None:
    clean = capture("dnsblast-odd/count-below-rate/dnsblast.out")
    broken = capture("dnsblast-odd/sigint-midway/dnsblast.out")
    # Behind a clean end larger counters are of another run, too; behind a broken one they must fall.
    found = list(dnsblast.parse(clean + broken + clean + clean))
    assert [part.facts["sent"] for part in found] == [100, 910, 100, 100]
    assert [part.facts["completed"] for part in found] == [True, False, True, True]
    assert [part.line for part in found] == [1, 3, 6, 8]


def test_dnsblast_typescript_gives_its_command_and_its_run() -> None:
    head = b'Script started on 2026-11-20 11:51:51+00:00 [COMMAND="dnsblast ::1 40 10 5300" <not>]\n'
    tail = b'\nScript done on 2026-11-20 11:51:55+00:00 [COMMAND_EXIT_CODE="0"]\n'
    found = report(dnsblast, head + capture("dnsblast-odd/pty-typescript/dnsblast.out") + tail)
    assert found.facts["command"] == "dnsblast ::1 40 10 5300"
    assert found.facts["completed"] is True
    assert found.warnings == []
    assert found.line == 2
    assert dnsblast.sniff(head)
    nothing = reject(dnsblast, head + tail)
    assert "underflows" in nothing.reason
    assert "check that the server is up" in nothing.hint


def test_dnsblast_ctrl_c_and_messages_between_the_lines_are_told() -> None:
    first = b"Sent: [5] - Received: [3] - Reply rate: [3 pps] - Ratio: [60.00%]  \r"
    assert "Ctrl-C" in report(dnsblast, first + b"^C").warnings[-1]
    found = report(dnsblast, first + b"\nsendto: Network is unreachable\n")
    assert any("Network is unreachable" in warning for warning in found.warnings)
    assert found.facts["completed"] is False
    wrong = first.replace(b"60.00", b"61.00")
    assert any("Damaged?" in warning for warning in report(dnsblast, wrong).warnings)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("dnsblast: dnsblast.c:361: main: Assertion `send_count > 0UL' failed.", "a count of 1"),
        ("sendto: Network is unreachable", "route"),
        ("[no-such-host.invalid:5300]: [Temporary failure in name resolution]", "IP address"),
    ],
)
def test_dnsblast_errors_have_a_remedy(text: str, hint: str) -> None:
    assert dnsblast.sniff(text.encode() + b"\n")
    assert hint in reject(dnsblast, text.encode() + b"\n").hint


def test_dnsblast_failures_behind_a_whole_run_are_parts_of_their_own() -> None:
    run = capture("dnsblast-odd/count-1/dnsblast.out")
    error = capture("dnsblast-odd/port-0/dnsblast.err")
    usage = capture("dnsblast-odd/no-args/dnsblast.out")
    found = list(dnsblast.parse(run + error + error + usage + run))
    assert [type(part) for part in found] == [Report, Reject, Reject, Reject, Report]


def test_trace_of_dnsblast_is_no_output_of_it() -> None:
    status = r'write(1, "Sent: [1] - Received: [0] - Reply rate: [0 pps] - Ratio: [0.00%]  \r", 70) = 70'
    assert not dnsblast.sniff(f"execve(...) = 0\n{status}\n".encode())


# --- dnsperf


def test_dnsperf_figures_and_options() -> None:
    found = report(dnsperf, capture("tools/dnsperf/edns-dnssec/dnsperf.out"))
    facts = found.facts
    assert facts["tool_version"] == "2.10.0"
    assert facts["command"].startswith("dnsperf -s 127.0.0.1 -p 5300")
    assert facts["method"] == (
        "2 s; udp; 1 client; 1 thread; 100 outstanding; time-out 5 s; queries queries-mixed.txt; EDNS; DNSSEC OK"
    )
    assert (facts["offered_rate"], facts["clients"], facts["drop_time_s"]) == (300, 1, 5)
    assert facts["duration_s"] == 2.000409
    assert responses(found) == {"NOERROR": 515, "NXDOMAIN": 85}
    assert value(found, "latency_avg") == 0.81
    assert value(found, "latency_min") == 0.081
    assert value(found, "latency_max") == 42.228
    assert value(found, "latency_stdev") == 3.904
    assert value(found, "outstanding_window") == 100
    assert details(found) == {
        "outcome": "time limit",
        "outstanding": 100,
        "sending_s": 2.0,
        "started_at_local": "Fri Nov 20 11:48:07 2026",
        "target": "127.0.0.1:5300",
        "threads": 1,
        "transport": "udp",
    }


def test_dnsperf_rate_target_and_display_do_not_change_the_method() -> None:
    data = capture("tools/dnsperf/lmdb-S1/dnsperf.out")
    same = data.replace(b"-l 5 -S 1 -Q 1500", b"-v -Q9 -W -l5 -O suppress=timeout").replace(b"-s 127.0.0.1", b"-s ::1")
    other = data.replace(b"-l 5 -S", b"-eD -O num-queries-per-conn=7 -l 5 -S")
    method = report(dnsperf, data).facts["method"]
    assert report(dnsperf, same).facts["method"] == method
    assert report(dnsperf, same).facts["offered_rate"] == 9
    assert report(dnsperf, other).facts["method"] == (f"{method}; EDNS; DNSSEC OK; 7 queries per connection")


def test_dnsperf_intervals_count_from_the_start_without_the_bogus_first() -> None:
    found = report(dnsperf, capture("tools/dnsperf/lmdb-S1/dnsperf.out"))
    rates = observed(found, "interval_rate")
    assert rates[0] == (None, 2.001527, 1503.703844, "queries/s")
    assert len(rates) == 3
    # A first interval that was measured stays.
    found = report(dnsperf, capture("tools/dnsperf/lmdb-S0.5-two-threads/dnsperf.out"))
    assert observed(found, "interval_rate")[0] == (None, 0.5, 1003.371889, "queries/s")


def test_dnsperf_answers_of_v_are_summarised() -> None:
    found = report(dnsperf, capture("tools/dnsperf/lmdb-v/dnsperf.out"))
    lines = [
        float(line.rpartition(b" ")[2])
        for line in capture("tools/dnsperf/lmdb-v/dnsperf.out").splitlines()
        if line.startswith(b"> ")
    ]
    lines.sort()
    assert len(lines) == 300
    for percent, place in ((50, 150), (90, 270), (99, 297)):
        assert value(found, f"latency_p{percent}") == pytest.approx(lines[place - 1] * 1000)
    assert len(found.observations) < 20


def test_dnsperf_latency_of_connections_is_not_that_of_queries() -> None:
    found = report(dnsperf, capture("tools/dnsperf/mysql-tcp/dnsperf.out"))
    assert value(found, "latency_avg") == 3.429
    assert value(found, "connection_latency_avg") == 0.163
    assert value(found, "reconnections") == 0
    assert details(found)["transport"] == "tcp"


def test_dnsperf_interrupted_queries_are_neither_answered_nor_lost() -> None:
    found = report(dnsperf, capture("tools/dnsperf/mysql-sigint/dnsperf.out"))
    assert details(found)["outcome"] == "interruption"
    assert details(found)["interrupted_queries"] == 1
    assert found.facts["sent"] == found.facts["received"] + found.facts["dropped"] + 1


def test_dnsperf_server_down_has_no_latencies() -> None:
    found = report(dnsperf, capture("tools/dnsperf/server-down/dnsperf.out"))
    assert responses(found) == {}
    assert not any(row["metric"].startswith("latency") for row in found.observations)
    assert details(found)["timeouts_logged"] == 100


def test_dnsperf_warnings_of_stderr_are_counted() -> None:
    merged = capture("tools/dnsperf/bad-lines/dnsperf.err") + capture("tools/dnsperf/bad-lines/dnsperf.out")
    found = report(dnsperf, merged.replace(b"DNS Perf", b"\nDNS Perf"))
    assert found.warnings[0].startswith("dnsperf printed 12 warnings; line 1: 'invalid query input")
    failed = capture("tools/dnsperf/bad-datafile/dnsperf.out") + capture("tools/dnsperf/bad-datafile/dnsperf.err")
    assert "unable to open file" in reject(dnsperf, failed).reason
    assert "-d" in reject(dnsperf, failed).hint


def test_dnsperf_tsig_key_is_masked() -> None:
    data = capture("tools/dnsperf/ipv6/dnsperf.out")
    facts = report(dnsperf, data.replace(b"-Q 300", b"-y hmac-sha256:k:c2VjcmV0 -Q 300")).facts
    assert "c2VjcmV0" not in facts["command"]
    assert "-y hmac-sha256:k:*** -Q 300" in facts["command"]
    assert facts["method"].endswith("TSIG")


def test_dnsperf_newer_versions_print_interval_statistics_and_histograms() -> None:
    data = capture("tools/dnsperf/ipv6/dnsperf.out").decode()
    total = data[data.index("Statistics:") :]
    interval = "Interval " + total.replace("2.000811", "1.000000").replace("299.878399", "250.000000")
    histogram = "  Latency bucket (s):   answer count\n  0.000064 - 0.000065:  330\n  0.000128 - 0.000129:  270\n"
    newer = data.replace("Statistics:", interval + "Statistics:") + histogram
    found = report(dnsperf, newer.encode())
    assert found.warnings == []
    assert (found.facts["sent"], found.facts["achieved_rate"]) == (600, 299.878399)
    assert observed(found, "interval_rate") == [(None, 1.0, 250.0, "queries/s")]
    assert [value(found, f"latency_p{percent}") for percent in (50, 90, 95, 99)] == [0.065, 0.129, 0.129, 0.129]
    assert value(found, "latency_percentiles_of") == 600
    (lacking,) = report(dnsperf, newer.replace("330", "30").encode()).warnings
    assert "does not hold all answers" in lacking


# The layout of Sinodun's dnsperf-tcp 2.1.0.0.
TCP_STATISTICS = """
  TCP connections:      10
  Ave Queries per conn: 60
  TCP HS time per client (s):          0.000000  (0.00%)
  Total HS time per connection (s):    0.000000
  Adjusted Queries/s:   29.948622


  Average RTT (s):      0.073684 (min 0.008143, max 4.232572)
  RTT StdDev (s):       0.357560
"""


def test_dnsperf_tcp_calls_latencies_round_trip_times() -> None:
    data = capture("tools/dnsperf/mysql-tcp/dnsperf.out").decode()
    found = report(dnsperf, (data[: data.index("\n  Average Latency")] + TCP_STATISTICS).encode())
    assert found.facts["completed"]
    assert not [warning for warning in found.warnings if "not of dnsperf" in warning or "cut off" in warning]
    told = [value(found, f"latency_{name}") for name in ("avg", "min", "max", "stdev")]
    assert told == [73.684, 8.143, 4232.572, 357.56]
    assert details(found)["tcp_connections"] == 10


@pytest.mark.parametrize("reader", [dnsperf, resperf])
def test_reports_appended_to_one_file_stay_apart(reader) -> None:
    names = [name for name, row in TRIALS.items() if row["reader"] == reader.NAME]
    datas = [capture(name) for name in names if name.endswith(".out")][:5]
    found = list(reader.parse(b"".join(datas)))
    assert [part.facts for part in found] == [report(reader, data).facts for data in datas]


@pytest.mark.parametrize(
    ("reader", "name"),
    [
        (dnsperf, "tools/dnsperf/mysql-default/dnsperf.out"),
        (resperf, "tools/resperf/lmdb-default/resperf.out"),
        (flame, "tools/flame/mysql-Q1000/flame.out"),
        (flame, "tools/flame/lmdb-v99/flame.json"),
        (dnspyre, "tools/dnspyre/lmdb-requestlog/dnspyre.out"),
        (dnstrace, "tools/dnstrace/lmdb-color/dnstrace.out"),
        (kxdpgun, "tools/kxdpgun/lmdb/Q1000.out"),
    ],
)
def test_report_that_is_cut_anywhere_never_tells_other_totals(reader, name: str) -> None:
    data = capture(name)
    whole = report(reader, data).facts
    # In the sums of flame.json, which grow, each period is a report of its own worth.
    growing = name.endswith(".json")
    for end in range(len(data)):
        (part,) = reader.parse(data[:end])
        if isinstance(part, Report) and (part.facts["completed"] or not growing):
            for column in ("sent", "received", "dropped"):
                assert part.facts[column] in {whole[column], None}, end


# --- resperf


def test_resperf_maximum_and_the_loss_at_that_point() -> None:
    found = report(resperf, capture("tools/resperf/lmdb-L5-c3/resperf.out"))
    assert found.facts["method"] == (
        "ramp to 6000/s in 6 s; then constant for 3 s; udp; 1 client; 65536 outstanding; "
        "time-out 4 s; buckets of 0.25 s; at most 5 % loss; queries queries-randsub.txt"
    )
    assert (found.facts["offered_rate"], found.facts["drop_time_s"]) == (None, 4)
    assert responses(found) == {"NOERROR": 34466}
    found = report(resperf, capture("tools/resperf/lmdb-default/resperf.out"))
    assert details(found)["lost_at_that_point"] == "2.07"


def test_resperf_plot_gives_a_metric_per_column() -> None:
    found = report(resperf, capture("tools/resperf/mysql-default/resperf.gnuplot"))
    assert observed(found, "response_rate")[7] == (None, 3.75, 4622.0, "queries/s")
    assert observed(found, "target_rate")[7][2] == 4687.5
    assert observed(found, "latency_avg")[8] == (None, 4.25, 515.333, "ms")
    # Three buckets without an answer have no latency, though 0.000000 is printed.
    assert len(observed(found, "response_rate")) == 15
    assert len(observed(found, "latency_avg")) == 12
    assert observed(found, "connection_latency_avg") == []
    assert found.facts["completed"] is False
    assert found.facts["sent"] is None


def test_resperf_report_and_plot_in_one_file_are_two_reports() -> None:
    out = capture("tools/resperf/lmdb-default/resperf.out")
    plot = capture("tools/resperf/lmdb-default/resperf.gnuplot")
    for data in (out + plot, plot + out):
        assert len(list(resperf.parse(data))) == 2


# --- flame


def test_flame_text_and_json_tell_the_same_trial() -> None:
    for folder in ("lmdb-Q1000", "mysql-randomlabel", "lmdb-v99", "server-down"):
        text = report(flame, capture(f"tools/flame/{folder}/flame.out"))
        lines = report(flame, capture(f"tools/flame/{folder}/flame.json"))
        assert text.facts["achieved_rate"] == pytest.approx(lines.facts["achieved_rate"], rel=1e-4)
        same = ("method", "offered_rate", "sent", "received", "dropped", "clients")
        assert [text.facts[name] for name in same] == [lines.facts[name] for name in same]
        assert details(text)["run_id"] == details(lines)["run_id"]
        assert responses(text) == responses(lines)
        for metric in ("interval_sent", "interval_received", "interval_timeouts", "in_flight"):
            values = [row[2] for row in observed(text, metric)]
            assert values == [row[2] for row in observed(lines, metric)]


def test_flame_figures() -> None:
    found = report(flame, capture("tools/flame/mysql-randomlabel/flame.out"))
    assert found.facts["method"] == ("10 generators, each 10 queries every 1 ms; udp; randomlabel")
    assert (found.facts["offered_rate"], found.facts["clients"]) == (3000, 10)
    assert (found.facts["duration_s"], found.facts["drop_time_s"]) == (5.94688, 1)
    assert value(found, "latency_avg") == 704.934
    assert responses(found) == {"NXDOMAIN": 7786}
    lines = report(flame, capture("tools/flame/mysql-randomlabel/flame.json"))
    assert lines.facts["tool_version"] == "0.11.0"
    assert details(lines)["started_at"] == "2026-11-20T11:50:16Z"


def test_flame_without_an_answer_has_no_latency() -> None:
    for name in ("flame.out", "flame.json"):
        found = report(flame, capture(f"tools/flame/server-down/{name}"))
        assert not any(row["metric"].startswith("latency") for row in found.observations)


def test_flame_appended_runs_stay_apart() -> None:
    for name in ("flame.out", "flame.json"):
        datas = [capture(f"tools/flame/{folder}/{name}") for folder in ("lmdb-v99", "lmdb-Q1000")]
        found = list(flame.parse(b"".join(datas)))
        assert [part.facts["sent"] for part in found] == [60, 4160]
        assert all(part.facts["completed"] for part in found)
        assert all(part.warnings == [] for part in found)


# --- dnspyre, dnstrace


def test_dnspyre_table_with_colours() -> None:
    found = report(dnspyre, capture("tools/dnspyre/lmdb-color-progress/dnspyre.out"))
    assert found.facts["method"] == "udp; 2 concurrent requests; 50000 hostnames"
    assert (found.facts["offered_rate"], found.facts["clients"]) == (800, 2)
    assert found.facts["duration_s"] == 5.92
    assert responses(found) == {"REFUSED": 4726}
    assert value(found, "latency_avg") == 0.23674
    assert value(found, "latency_p99") == 2.62
    assert details(found)["limit"] == "800 QPS overall"


def test_dnspyre_progress_bar_is_no_report_and_no_harm() -> None:
    bar = capture("tools/dnspyre/lmdb-color-progress/dnspyre.err")
    table = capture("tools/dnspyre/lmdb-color-progress/dnspyre.out")
    head, behind, rest = table.partition(b"overall)\n")
    merged = report(dnspyre, head + behind + bar + b"\n" + rest)
    assert merged == report(dnspyre, table)
    assert "cut off or not finished" in reject(dnspyre, bar).reason


def test_dnspyre_json_counts_failed_requests_in_its_rate() -> None:
    found = report(dnspyre, capture("tools/dnspyre/lmdb-json/dnspyre.out"))
    assert (found.facts["sent"], found.facts["received"]) == (143365, 143362)
    assert found.facts["duration_s"] == 3.01
    assert value(found, "latency_max") == 11
    assert value(found, "latency_p50") == 0
    assert details(found) == {"io_errors": 3, "question_types": {"A": 143365}}


def test_dnspyre_rate_without_an_answer_is_no_rate() -> None:
    found = report(dnspyre, capture("tools/dnspyre/server-down/dnspyre.out"))
    assert found.facts["achieved_rate"] == 0
    assert details(found)["questions_per_second_printed"] == 37787.2
    assert observed(found, "errors") == [
        ("read udp 127.0.0.1:5999", None, 76312, "errors"),
        ("dial udp 127.0.0.1:5999", None, 1, "errors"),
    ]


@pytest.mark.parametrize(
    ("limit", "offered"),
    [
        ("100 QPS per concurrent worker", 200),
        ("150 QPS overall and 100 QPS per concurrent worker", 150),
        ("350 QPS overall and 100 QPS per concurrent worker", 200),
        ("90 QPS", 90),
    ],
)
def test_dnspyre_limits_are_the_offered_rate(limit: str, offered: float) -> None:
    data = capture("tools/dnspyre/lmdb-requestlog/dnspyre.out")
    limited = data.replace(b"2 concurrent requests ", f"2 concurrent requests (limited to {limit})".encode())
    assert report(dnspyre, limited).facts["offered_rate"] == offered


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0s", 0.0),
        ("238.76µs", 0.00023876),
        ("8.912895ms", 0.008912895),
        ("4.603594585s", 4.603594585),
        ("1m0s", 60.0),
        ("1h2m3.5s", 3723.5),
        ("17ns", 1.7e-08),
        ("4.6", None),
        ("5m", None),
    ],
)
def test_go_durations(text: str, seconds: float | None) -> None:
    assert duration_s(text) == seconds


def test_dnstrace_figures() -> None:
    found = report(dnstrace, capture("tools/dnstrace/mysql-default/dnstrace.out"))
    assert found.facts["duration_s"] == 4.603594585
    assert responses(found) == {"NOERROR": 16000}
    assert value(found, "latency_avg") == 1.140834
    assert value(found, "latency_stdev") == 1.127843
    assert found.facts["method"] == "udp; 4 concurrent requests"


def test_dnstrace_that_was_cancelled_is_not_completed() -> None:
    data = capture("tools/dnstrace/lmdb-color/dnstrace.out")
    short = data.replace(b" 500 of 500 (100.0%)", b" 500 of 900 (55.6%)")
    assert report(dnstrace, short).facts["completed"] is False
    progress = b"Total requests:\t 20 of 500 (4.0%)\nDNS success codes:\t20\n"
    head, behind, rest = data.partition(b"concurrent requests \n")
    assert report(dnstrace, head + behind + progress + rest).facts["sent"] == 500


# --- kxdpgun


def test_kxdpgun_figures() -> None:
    found = report(kxdpgun, capture("tools/kxdpgun/lmdb/Q5000.out"))
    assert found.facts["method"] == "udp; native XDP; 1 thread"
    assert found.facts["duration_s"] == 3
    assert responses(found) == {"NOERROR": 15010}
    assert value(found, "send_rate") == 5003
    assert value(found, "wire_rate") == 3762506
    assert details(found) == {"interface": "kxa", "threads": 1, "transport": "udp", "xdp_mode": "native"}


def test_kxdpgun_newer_form_tcp_and_losses() -> None:
    text = (
        "using interface eth0, XDP threads 2, IPv6/TCP mode 7, emulated mode\n"
        "thread#01: sent 600, received 500, lost 4, errors 1\n"
        "thread#00: sent 400, received 300\n"
        "total SYNs:         1000 (333 pps) (99.900000%)\n"
        "total established:  900 (300 pps) (90.000000%)\n"
        "total replies:      800 (266 pps) (80.000000%)\n"
        "total closed:       700 (233 pps) (70.000000%)\n"
        "average DNS reply size: 52 B\n"
        "average Ethernet reply rate: 3762506 bps (3.76 Mbps)\n"
        "responded NOERROR:   800\n"
        "duration: 3 s\n"
    )
    found = report(kxdpgun, text.encode())
    assert found.facts["method"] == "tcp mode 7; emulated XDP; 2 threads; IPv6"
    facts = [found.facts[name] for name in ("sent", "received", "dropped", "achieved_rate")]
    assert facts == [1000, 800, 200, 266]
    assert value(found, "connections_established") == 900
    assert details(found)["lost_by_client"] == 4
    assert "itself lost 4 packets" in found.warnings[0]


def test_kxdpgun_totals_in_between_do_not_count() -> None:
    data = capture("tools/kxdpgun/lmdb/Q1000.out")
    head, behind, rest = data.partition(b"native mode\n")
    between = b"total queries:     1500 (1000 pps)\ntotal replies:     1400 (933 pps) (93%)\nduration: 1 s\n"
    found = report(kxdpgun, head + behind + between + rest)
    assert (found.facts["sent"], found.facts["received"]) == (3010, 3010)
    alone = report(kxdpgun, between)
    assert alone.facts["completed"] is False
    assert len(list(kxdpgun.parse(data + data))) == 2


USAGE = {
    dnsblast: b"\nUsage: dnsblast [fuzz] <host> [<count>] [<pps>] [<port>]\n\n",
    dnsperf: capture("tools/dnsperf/no-args-h/dnsperf.out") + capture("tools/dnsperf/no-args-h/dnsperf.err"),
    flame: b"Flamethrower.\n    Usage:\n      flame [-b BIND_IP] TARGET\n",
    dnspyre: b"usage: dnspyre [<flags>] [<queries>...]\n\nFlags:\n  --help  Show help.\n",
    dnstrace: b"usage: dnstrace [<flags>] <queries>...\n\nFlags:\n  --help  Show help.\n",
    kxdpgun: b"Usage: kxdpgun [options] -i <queries_file> <dest_ip>\n\nOptions:\n -t, --duration\n",
}


@pytest.mark.parametrize("reader", USAGE, ids=lambda reader: reader.NAME)
def test_usage_text_is_one_reject_and_does_not_swallow_the_report_behind_it(reader) -> None:
    usage = USAGE[reader]
    assert reader.sniff(usage)
    assert "usage text" in reject(reader, usage).reason
    name = next(name for name, row in TRIALS.items() if row["reader"] == reader.NAME)
    first, second = reader.parse(usage + capture(name))
    assert isinstance(first, Reject)
    assert second.facts == report(reader, capture(name)).facts


# The layouts of Knot 3.4.0 and 3.5.0 (src/utils/kxdpgun/stats.c).
KXDPGUN_3_4 = """using interface enp1s0f0, XDP threads 2, IPv4/UDP, native mode
--------------------------------------------------------------
periodic metrics:
total queries:     24981 (24981 pps) (99.924000%)
total replies:     24980 (24980 pps) (99.995997%)
average DNS reply size: 52 B
average Ethernet reply rate: 754506 bps (0.75 Mbps)
responded NOERROR:   24980
since: 0.0000s   until: 1.0000s
--------------------------------------------------------------
thread#00: sent 250000, received 249990
thread#01: sent 249810, received 249800
cumulative metrics:
total queries:     499810 (49962 pps) (99.945600%)
total replies:     499790 (49960 pps) (99.995998%)
average DNS reply size: 52 B
average Ethernet reply rate: 37545060 bps (37.55 Mbps)
responded NOERROR:   499790
duration: 10.0021 s
"""
KXDPGUN_3_5 = KXDPGUN_3_4.replace("000%)", "000 %)").replace("600%)", "600 %)").replace("998%)", "998 %)")
KXDPGUN_3_5 = re.sub(r"(?<![\d.#])\d{4,}(?!\.)", lambda found: f"{int(found[0]):,}", KXDPGUN_3_5)


@pytest.mark.parametrize("text", [KXDPGUN_3_4, KXDPGUN_3_5])
def test_kxdpgun_of_newer_knot_has_fractions_periods_and_separated_thousands(text: str) -> None:
    assert "49,962 pps" in KXDPGUN_3_5
    assert kxdpgun.sniff(text.encode())
    found = report(kxdpgun, text.encode())
    facts = found.facts
    assert found.warnings == []
    assert (facts["sent"], facts["received"], facts["dropped"]) == (499810, 499790, 20)
    assert (facts["achieved_rate"], facts["duration_s"], facts["completed"]) == (49960.0, 10.0021, True)
    assert observed(found, "interval_received") == [(None, 1.0, 24980.0, "responses")]
    assert responses(found) == {"NOERROR": 499790}
    assert details(found)["sent_of_asked_pct"] == 99.9456


def test_kxdpgun_that_ends_within_a_period_tells_no_totals() -> None:
    for end in range(len(KXDPGUN_3_4)):
        (part,) = kxdpgun.parse(KXDPGUN_3_4[:end].encode())
        if isinstance(part, Report):
            assert part.facts["sent"] == 499810
            assert part.facts["received"] in {499790, None}


def test_dnspyre_json_that_was_printed_for_people_is_the_same_trial() -> None:
    data = capture("tools/dnspyre/mysql-json/dnspyre.out")
    pretty = json.dumps(json.loads(data), indent=2)
    assert dnspyre.sniff(pretty.encode())
    assert report(dnspyre, pretty.encode()) == report(dnspyre, data)
    first, second = dnspyre.parse(f"{pretty}\n{pretty}\n".encode())
    assert first.facts == second.facts
    assert second.line == 1 + len(pretty.splitlines())
    assert "cut off" in reject(dnspyre, pretty[:-1].encode()).reason or reject(dnspyre, pretty[:-1].encode()).line


def test_flame_achieves_replies_by_time_not_a_mean_of_means() -> None:
    data = capture("tools/flame/mysql-Q1000/flame.out")
    found = report(flame, data)
    assert details(found)["average_rate_printed"] == 931
    assert found.facts["achieved_rate"] == pytest.approx(4658 / 4.66322)  # the last second only waited
    without_periods = b"".join(line for line in data.splitlines(keepends=True) if b"avg send" not in line)
    assert report(flame, without_periods).facts["achieved_rate"] == pytest.approx(4660 / 5.6649)


def test_flame_that_lost_a_period_is_not_whole() -> None:
    lines = capture("tools/flame/mysql-Q1000/flame.out").splitlines(keepends=True)
    period = next(line for line in lines if b"avg send" in line and b"recv: 0" not in line)
    found = report(flame, b"".join(line for line in lines if line != period))
    assert found.facts["completed"] is False
    assert any("a line is damaged" in warning for warning in found.warnings)


def test_queryperf_latencies_have_the_names_of_all_tools() -> None:
    found = report(queryperf, capture("tools/queryperf/documented/queryperf.out"))
    assert [value(found, f"latency_{name}") for name in ("avg", "min", "max", "stdev")] == [
        3.381,
        0.053,
        820.253,
        4.522,
    ]


def test_resperf_keeps_the_loss_at_its_maximum_as_a_value() -> None:
    found = report(resperf, capture("tools/resperf/lmdb-default/resperf.out"))
    assert observed(found, "lost_at_maximum") == [(None, None, 2.07, "%")]


@pytest.mark.parametrize(
    ("reader", "name", "pattern", "damaged", "doubt"),
    [
        (dnsperf, "dnsperf/lmdb-default/dnsperf.out", r"sent: +137529", "sent: 13752", "137529 are accounted for"),
        (dnsperf, "dnsperf/lmdb-default/dnsperf.out", r"$", "\n Queries lost: 653\n", "another `Queries lost`"),
        (resperf, "resperf/lmdb-default/resperf.out", r"$", "\n Maximum throughput: 0.0 qps\n", "another `Maximum"),
        (queryperf, "queryperf/documented/queryperf.out", r"sent: +41250", "sent: 2147483648", "41250 are acc"),
        (dnspyre, "dnspyre/lmdb-names-table/dnspyre.out", r"success", "success {}", "50034 answers are described, 0"),
        (dnstrace, "dnstrace/mysql-default/dnstrace.out", r"16000 datapoints", "1600 datapoints", "1600 are counted"),
        (kxdpgun, "kxdpgun/lmdb/Q5000.out", r"replies: +15010 \(5", "replies: 15010 ", "their total is missing"),
    ],
)
def test_report_that_contradicts_itself_is_not_whole(reader, name: str, pattern: str, damaged: str, doubt: str) -> None:
    text = (CAPTURES / "tools" / name).read_text().rstrip()
    (whole,) = reader.parse(text.encode() + b"\n")
    (report,) = reader.parse(re.sub(pattern, damaged, text, count=1).encode() + b"\n")
    assert whole.facts["completed"]
    assert not report.facts["completed"]
    assert any(doubt in warning for warning in report.warnings), report.warnings
