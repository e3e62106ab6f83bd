"""What the readers of DNS generators make of real captures and of variants derived from them.

The captures are of dnsblast 1be795a, dnsperf and resperf 2.10.0, flame 0.11.0, dnspyre 3.4.1,
dnstrace 082df79 and kxdpgun 3.2.6 against PowerDNS 4.7.3; that of queryperf is made after its
source. What whole captures come to is in readings.jsonl.
"""

import json
from pathlib import Path

import pytest

from dropline.ingest.formats import (
    Reject,
    Report,
    bngblaster,
    dnsblast,
    dnsperf,
    dnspyre,
    dnstrace,
    flame,
    kxdpgun,
    resperf,
    shotgun,
)
from dropline.ingest.formats.dnstrace import duration_s

CAPTURES = Path(__file__).parents[1] / "captures" / "dns"
MADE = Path(__file__).parent / "made"


def capture(name):
    return (CAPTURES / name).read_bytes()


def report(reader, data):
    (part,) = reader.parse(data)
    assert isinstance(part, Report), part
    return part


def reject(reader, data):
    (part,) = reader.parse(data)
    assert isinstance(part, Reject), part
    return part


def details(found):
    return json.loads(found.facts["details"])


def observed(found, metric):
    """Return (label, t_s, value, unit) of all observations of one metric."""
    return [(each.label, each.t_s, each.value, each.unit) for each in found.observations if each.metric == metric]


def responses(found):
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
def test_dnsblast_has_ended_only_where_its_last_newline_stands(change, completed):
    # The first status of a fast server has as many replies as queries: that is no end.
    data = capture("dnsblast-odd/all-servfail/dnsblast.out")
    found = report(dnsblast, change(data))
    assert found.facts["completed"] is completed
    assert (found.facts["sent"], found.facts["received"]) == (2000, 2000)
    assert len(observed(found, "sent")) == 7


def test_trace_of_dnsblast_is_no_output_of_it():
    status = r'write(1, "Sent: [1] - Received: [0] - Reply rate: [0 pps] - Ratio: [0.00%]  \r", 70) = 70'
    assert not dnsblast.sniff(f"execve(...) = 0\n{status}\n".encode())


# --- dnsperf


def test_dnsperf_rate_target_and_display_do_not_change_the_method():
    data = capture("tools/dnsperf/lmdb-S1/dnsperf.out")
    same = data.replace(b"-l 5 -S 1 -Q 1500", b"-v -Q9 -W -l5 -O suppress=timeout").replace(b"-s 127.0.0.1", b"-s ::1")
    other = data.replace(b"-l 5 -S", b"-eD -O num-queries-per-conn=7 -l 5 -S")
    method = report(dnsperf, data).facts["method"]
    assert report(dnsperf, same).facts["method"] == method
    assert report(dnsperf, same).facts["offered_rate"] == 9
    assert report(dnsperf, other).facts["method"] == (f"{method}; EDNS; DNSSEC OK; 7 queries per connection")


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
def test_report_that_is_cut_anywhere_never_tells_other_totals(reader, name):
    data = capture(name)
    whole = report(reader, data).facts
    # In the sums of flame.json, which grow, each period is a report of its own worth.
    growing = name.endswith(".json")
    for end in range(len(data)):
        (part,) = reader.parse(data[:end])
        if isinstance(part, Report) and (part.facts["completed"] or not growing):
            for column in ("sent", "received", "dropped"):
                assert part.facts[column] in {whole[column], None}, end


# --- dnspyre, dnstrace


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
def test_go_durations(text, seconds):
    assert duration_s(text) == seconds


def test_kxdpgun_has_its_rate_from_the_command_before_its_output():
    ran = (CAPTURES / "tools/kxdpgun/lmdb/Q1000.out").read_bytes()
    log = b"+ kxdpgun -t 3 -Q 1000 -i q 10.0.0.1\n" + ran + b"+ sudo kxdpgun --qps=5000 10.0.0.1\n" + ran + ran
    assert [part.facts["offered_rate"] for part in kxdpgun.parse(log)] == [1000, 5000, None]


def test_kxdpgun_that_ends_within_a_period_tells_no_totals():
    (periods,) = (MADE / "kxdpgun").glob("*-periods-and-*-1.csv")
    data = periods.read_bytes()
    for end in range(len(data)):
        (part,) = kxdpgun.parse(data[:end])
        if isinstance(part, Report):
            assert part.facts["sent"] == 499810
            assert part.facts["received"] in {499790, None}


@pytest.mark.parametrize("reader", [shotgun, bngblaster], ids=lambda reader: reader.NAME)
def test_json_that_is_cut_anywhere_gives_no_figure(reader):
    data = (CAPTURES.parent / "other" / f"{reader.NAME}.json").read_bytes()
    for end in range(0, len(data) - 2, 97):
        assert not [part for part in reader.parse(data[:end]) if isinstance(part, Report)]
