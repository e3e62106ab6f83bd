"""What the readers of watched files make of real captures, and of texts made after the documentation of a tool.

The captures are of PowerDNS 4.7.3 (counters, carbon, API, /metrics), of Linux 6 (/proc/net) and of sysstat 12.6.1
(names of node and kernel made neutral). The layouts of Grafana, CloudWatch, the API of Prometheus, and of other
versions of sysstat are made here after their manuals and sources.
"""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dropline.ingest.formats import Reject
from dropline.ingest.formats.text import instant
from dropline.ingest.telemetry import Sample, recognise, samples

CAPTURES = Path(__file__).parents[1] / "captures"
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
NOON_S = int(NOON.timestamp())


def capture(name: str) -> bytes:
    return (CAPTURES / "watched" / name).read_bytes()


def read(data: bytes | str, name: str | None = None) -> list[Sample | Reject]:
    """Read a text by the reader that claims it, which must be the named one."""
    data = data.encode() if isinstance(data, str) else data
    watcher = recognise(data[:65536])
    assert watcher, data[:200]
    assert name in {None, watcher.NAME}
    return list(watcher.parse(data))


def found(data: bytes | str, name: str | None = None) -> list[Sample]:
    """Read a text of which every part is of use."""
    parts = read(data, name)
    assert all(isinstance(part, Sample) for part in parts), parts
    return parts


def reject(data: bytes | str, name: str | None = None) -> Reject:
    (part,) = read(data, name)
    assert isinstance(part, Reject), part
    return part


def values(parts: list[Sample], metric: str) -> list[float]:
    return [part.value for part in parts if part.metric == metric]


def test_probe_line_that_is_cut_off_is_told():
    text = capture("probe.tsv")
    *kept, cut = read(text[:-20])
    assert len(kept) == 43
    assert cut.line == 46
    assert "cut off" in cut.reason


def test_pdns_control_that_is_cut_off_loses_its_last_value_only():
    *kept, cut = read(capture("pdns-show.txt").rstrip()[:-2])
    assert len(kept) == 98
    assert cut == Reject(1, "the last value is cut off: 'xfr-queue='", "copy the whole file again")


@pytest.mark.parametrize(
    ("line", "sample"),
    [
        (f"pdns.ns1_lab.auth.latency 206 {NOON_S}", Sample(NOON, "pdns.latency", 206.0, "us", None, "ns1_lab")),
        (f"pdns.ns1.recursor.questions 5 {NOON_S}", Sample(NOON, "pdns.questions", 5.0, None, "recursor", "ns1")),
        (f"servers.kea-1.cpu.user 12.5 {NOON_S}", Sample(NOON, "servers.kea-1.cpu.user", 12.5, None)),
        (f"disk.used;dc=a;disk=sda\t1e3 {NOON_S}", Sample(NOON, "disk.used", 1000.0, None, "dc=a;disk=sda")),
    ],
)
def test_carbon_path_tells_metric_host_and_label(line, sample):
    assert found(line + "\n", "carbon") == [sample]


def test_sockets_are_labelled_with_their_address():
    parts = found(capture("proc-net-udp.txt") + capture("proc-net-udp6.txt"), "proc_net")
    assert [part.label for part in parts] == ["127.0.0.1:5300"] * 2 + ["[::1]:5300"] * 2
    line = (
        b"  15: 0000000000000000FFFF00000A0200C0:0035 00000000000000000000000000000000:0000 07 00000000:0003A980"
        b" 00:00000000 00000000     0        0 999 2 00000000d5b4ba7c 1995\n"
    )
    assert found(capture("proc-net-udp6.txt") + line)[2:] == [
        Sample(None, "udp_socket.rx_queue", 240000.0, "bytes", "[::ffff:192.0.2.10]:53"),
        Sample(None, "udp_socket.drops", 1995.0, "packets", "[::ffff:192.0.2.10]:53"),
    ]


def test_sections_of_sadf_stay_in_the_order_of_the_file():
    metrics = list(dict.fromkeys(part.metric.split(".")[1] for part in found(capture("sadf.json"))))
    assert metrics[-6:] == ["net-dev", "net-edev", "net-sock", "net-udp", "net-udp6", "softnet"]


def sadf(timestamp: dict, **sections: object) -> str:
    host = {"nodename": "kea1", "statistics": [{"timestamp": timestamp, **sections}]}
    return json.dumps({"sysstat": {"sysdata-version": 2.13, "hosts": [host]}})


@pytest.mark.parametrize("line", ["foo5", "foo", 'foo{a="b} 1', "foo 1 2 3", "foo 0x10", "1foo 1", "foo 1 tomorrow"])
def test_line_that_is_no_metric_is_told(line):
    *kept, bad = read(f"# HELP a b\na 1\n{line}\n", "prometheus")
    assert kept == [Sample(None, "a", 1.0, None)]
    assert bad.line == 3
    assert line in bad.reason


def answer(kind: str, *results: dict) -> str:
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": list(results)}})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"status":"error","errorType":"bad_data","error":"parse error: unexpected end"}', "unexpected end"),
        (answer("matrix"), "there is no result in it"),
        (answer("matrix", {"metric": {"__name__": "x"}, "histograms": [[NOON_S, {}]]}), "not a time and a value"),
        (answer("matrix", {"metric": {}, "values": [[1, "2"]]}), "not a time and a value"),
        (answer("matrix", {"metric": {}, "values": [[NOON_S, "1"]]})[:-9], "damaged JSON"),
    ],
)
def test_answer_without_values_is_one_reject(text, reason):
    assert reason in reject(text, "prometheus").reason


@pytest.mark.parametrize(
    "text",
    [
        '"Time","a"\n',
        '"Time","a"\n0.5,1\n1.0,2\n',
        f"time,a\n{NOON_S}000,1\n",
        f"name,timestamp\nup,{NOON_S}\n",
        f"Time\n{NOON_S}000\n",
        f"name,name,timestamp,value\nup,up,{NOON_S},1\n",
        "Seconds Elapsed,Value\n1,2\n",
    ],
)
def test_other_tables_with_a_time_are_not_claimed(text):
    assert recognise(text.encode()) is None


@pytest.mark.parametrize(
    ("value", "at"),
    [
        (NOON_S, NOON),
        (f"{NOON_S}000", NOON),
        (NOON_S * 10**6, NOON),
        (NOON_S * 10**9, NOON),
        ("2026-11-20T13:00:00+01:00", NOON),
        ("2026-11-20 12:00:00", None),
        ("17952947", None),
        ("0001-01-01T00:00:00+14:00", None),
        (True, None),
        ("noon", None),
    ],
)
def test_instants(value, at):
    assert instant(value) == at


def test_broken_lines_in_a_row_are_one_reject():
    begin = "# HELP a b\na 1\n"
    sample, fault = read(begin + "broken\n" * 1000, "prometheus")
    assert sample.value == 1.0
    assert (fault.line, fault.reason) == (3, "not understood: 'broken'; and 999 more up to line 1002")


def test_an_endless_file_is_cut_off(monkeypatch):
    monkeypatch.setattr(samples, "MAX_SAMPLES", 3)
    parts = read("# HELP a b\nbad\n" + "a 1\n" * 10)
    assert [type(part) for part in parts] == [Reject, Sample, Sample, Sample, Reject]
    assert parts[-1].reason == "more than 3 values: the rest is left out"


def test_more_text_than_memory_can_hold_is_one_reject(monkeypatch):
    monkeypatch.setattr(samples, "MAX_TEXT_BYTES", 2 * 1024**2)
    data = gzip.compress(b"# HELP a b\n" + b"a 1\n" * 10**6)
    assert reject(data).reason == "more than 2 MiB of text"


# As the control agent of Kea 2.2 answers, after its documentation; its control socket answers with the object alone.
KEA_ANSWER = (CAPTURES / "watched" / "kea-statistics.json").read_text()


def test_what_is_no_statistic_of_kea_is_told_beside_those_that_are():
    odd = KEA_ANSWER.replace("[ [ 3020,", '[ [ "many",').replace(
        '"result": 0 } ]', '"result": 0 }, { "result": 1, "text": "off" } ]'
    )
    parts = read(odd, "kea")
    assert [part.reason for part in parts if isinstance(part, Reject)] == [
        "not a statistic: 'pkt4-received'",
        "no statistics: 'off'",
    ]
    assert len(parts) == 6


@pytest.mark.parametrize("text", ['{"Dhcp4": {"subnet4": []}}', '[ { "result": 1, "text": "unable to forward" } ]'])
def test_other_json_of_kea_is_none_of_its_statistics(text):
    watcher = recognise(text.encode())
    assert watcher is None or watcher.NAME != "kea"


@pytest.mark.parametrize(
    ("name", "leases"),
    [
        ("kea-leases4.csv", {"kea.leased-addresses": 2}),
        ("kea-leases6.csv", {"kea.leased-addresses": 1, "kea.leased-prefixes": 1}),
    ],
)
def test_of_a_lease_file_the_last_row_of_an_address_counts(name, leases):
    assert {sample.metric: sample.value for sample in found(capture(name))} == leases
    head = capture(name).split(b"\n")[0] + b"\n"
    assert [(sample.metric, sample.value) for sample in found(head)] == [("kea.leased-addresses", 0)]


def test_of_a_lease_file_that_is_cut_off_there_is_no_count():
    part = reject(capture("kea-leases4.csv")[:-30])
    assert (part.line, part.reason) == (7, "5 cells below a head of 12; and 1 more up to line 7")
    assert "cut off" in reject(capture("kea-leases4.csv")[:-1]).reason
