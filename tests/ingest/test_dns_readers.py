"""What the readers of DNS generators make of real captures and of variants derived from them.

The captures are of dnsblast 1be795a, dnsperf and resperf 2.10.0, flame 0.11.0, dnspyre 3.4.1,
dnstrace 082df79 and kxdpgun 3.2.6 against PowerDNS 4.7.3; that of queryperf is made after its
source. What whole captures come to is in told.jsonl.
"""

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
    queryperf,
    resperf,
)
from dropline.ingest.formats.dnstrace import duration_s

CAPTURES = Path(__file__).parents[1] / "captures" / "dns"


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


# --- dnsblast


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


def test_dnsperf_rate_target_and_display_do_not_change_the_method() -> None:
    data = capture("tools/dnsperf/lmdb-S1/dnsperf.out")
    same = data.replace(b"-l 5 -S 1 -Q 1500", b"-v -Q9 -W -l5 -O suppress=timeout").replace(b"-s 127.0.0.1", b"-s ::1")
    other = data.replace(b"-l 5 -S", b"-eD -O num-queries-per-conn=7 -l 5 -S")
    method = report(dnsperf, data).facts["method"]
    assert report(dnsperf, same).facts["method"] == method
    assert report(dnsperf, same).facts["offered_rate"] == 9
    assert report(dnsperf, other).facts["method"] == (f"{method}; EDNS; DNSSEC OK; 7 queries per connection")


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


# --- dnspyre, dnstrace


def test_dnspyre_progress_bar_is_no_report_and_no_harm() -> None:
    bar = capture("tools/dnspyre/lmdb-color-progress/dnspyre.err")
    table = capture("tools/dnspyre/lmdb-color-progress/dnspyre.out")
    head, behind, rest = table.partition(b"overall)\n")
    merged = report(dnspyre, head + behind + bar + b"\n" + rest)
    assert merged == report(dnspyre, table)
    assert "cut off or not finished" in reject(dnspyre, bar).reason


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


def test_dnstrace_that_was_cancelled_is_not_completed() -> None:
    data = capture("tools/dnstrace/lmdb-color/dnstrace.out")
    short = data.replace(b" 500 of 500 (100.0%)", b" 500 of 900 (55.6%)")
    assert report(dnstrace, short).facts["completed"] is False
    progress = b"Total requests:\t 20 of 500 (4.0%)\nDNS success codes:\t20\n"
    head, behind, rest = data.partition(b"concurrent requests \n")
    assert report(dnstrace, head + behind + progress + rest).facts["sent"] == 500


# --- kxdpgun


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
    outputs = (data for data in map(Path.read_bytes, sorted(CAPTURES.rglob("*.out"))) if reader.sniff(data))
    data, whole = next((data, part) for data in outputs for part in reader.parse(data) if isinstance(part, Report))
    first, second = reader.parse(usage + data)
    assert isinstance(first, Reject)
    assert second.facts == whole.facts


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
