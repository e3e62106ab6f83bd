"""What the perfdhcp reader makes of real captures (Kea 2.2.0) and of variants derived from them."""

import gzip
import re
from pathlib import Path

import pytest
import yaml

from dropline.ingest.formats import Reject, Report, perfdhcp, recognise
from dropline.ingest.formats.perfdhcp_options import parse_command

METHODS = yaml.safe_load(Path(__file__).with_name("methods.yml").read_text())
CAPTURES = Path(__file__).parents[1] / "captures" / "perfdhcp" / "odd"


def capture(name):
    (path,) = CAPTURES.glob(f"{name}*.txt")
    return path.read_bytes()


def parts(data):
    return list(perfdhcp.parse(data.encode() if isinstance(data, str) else data))


def report(data):
    (part,) = parts(data)
    assert isinstance(part, Report)
    return part


def reject(data):
    (part,) = parts(data)
    assert isinstance(part, Reject)
    return part


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("perfdhcp -4 -r 20 -p 3 10.0.0.1", {"protocol": "DHCPv4", "duration_s": 3.0}),
        ("perfdhcp -r 20 -n 50 10.0.0.1", {"protocol": "DHCPv4", "duration_s": 2.5}),
        ("perfdhcp -6 -r 20 -n 50 -p 2 all", {"protocol": "DHCPv6", "duration_s": 2.0}),
        ("perfdhcp -4 -n 100 -n 50 -r 200 -l c0", {"duration_s": 0.25}),
        ("perfdhcp -4 -n 50 -l c0", {"duration_s": None, "clients": 1}),
        ("perfdhcp -4 -d 0.5", {"drop_times_s": (0.5, 1.0)}),
        ("perfdhcp -4 -d 1.5 -d 2 -d 2.5", {"drop_times_s": (1.5, 2.5)}),
        ("perfdhcp -4 -i -d 3", {"drop_times_s": (3.0, None), "exchanges": ("DISCOVER-OFFER",)}),
        ("perfdhcp -4 -W 500000 -R 0", {"wait_s": 0.5, "clients": 1}),
        ("perfdhcp -6 -, avalanche -R 10 -d 2 all", {"scenario": "avalanche", "ignored": ("-d",)}),
        ("perfdhcp -6 --scenario avalanche -R 10", {"scenario": "avalanche"}),
        ("perfdhcp -6 --scenario basic -r 5", {"scenario": "basic", "offered_rate": 5.0}),
        ("perfdhcp -4 -w go on -r 5 10.0.0.1", {"wrapped": True, "offered_rate": 5.0}),
        ("perfdhcp -4 -1 -B -r 5 10.0.0.1", {"offered_rate": 5.0}),
        ("perfdhcp -6 -r 5 -F 1 all", {"exchanges": ("SOLICIT-ADVERTISE", "REQUEST-REPLY", "RELEASE-REPLY")}),
        ("perfdhcp -4 -n3000 -r300", {"duration_s": 10.0}),
        ("perfdhcp -4 -r x -p 1e400 -R", {"offered_rate": None, "duration_s": None, "clients": 1}),
    ],
)
def test_options_are_resolved(command, expected):
    assert {name: getattr(parse_command(command), name) for name in expected} == expected


@pytest.mark.parametrize(("command", "method"), METHODS.items())
def test_method_names_what_shapes_the_load(command, method):
    assert parse_command(f"perfdhcp {command} -l c0 10.0.0.1").method == method


@pytest.mark.parametrize(
    "other",
    [
        "-6 -r 9000 -R 100 -p 4 -d 1 -l c0 all",
        "-4 -r 10 -R 100 -p 4 -d 1 -d 1 10.0.0.1",
        "-4 -r 10 -R 100 -n 40 10.0.0.1",
        "-4 -r 10 -R 100 -p 4 -t 1 -x aeT -s 42 -g single -e address-only -W 0 10.0.0.1",
        "-4 -w a.sh -r 10 -R 100 -p 4",
    ],
)
def test_method_is_the_same_whatever_the_rate_target_and_reporting(other):
    assert parse_command(f"perfdhcp {other}").method == parse_command("perfdhcp -r 1 -p 4 -R 100").method


@pytest.mark.parametrize(
    ("rate", "figures"),
    [
        ("Rate: 299.856, expected rate: 300", (299.856, 300.0)),
        ("Rate: 1.2e+06 exchanges/second, expected rate: 300 exchanges/second", (1.2e6, 300.0)),
        ("Rate: 299.856", (299.856, 300.0)),
        ("Rate: 1.23457e+06 4-way exchanges/second, expected rate: 300", (1234570.0, 300.0)),
        ("Rate: -nan 4-way exchanges/second, expected rate: 300", (None, 300.0)),
    ],
)
def test_rate_line_of_any_version(rate, figures):
    text = re.sub("Rate: .*", rate, capture("022").decode())
    facts = report(text).facts
    assert (facts["achieved_rate"], facts["offered_rate"]) == figures


@pytest.mark.parametrize(
    ("printed", "ratio"),
    [
        *(("20.3", 0.203), ("4e-05", 4e-7), ("1e+02", 1.0), ("0", 0.0), ("0.000714311", 7.14311e-6)),
        *(("-nan", None), ("nan", None), ("inf", None), ("0.000", 0.0), ("100.000", 1.0)),
    ],
)
def test_drops_ratio_keeps_its_printed_text(printed, ratio):
    """3.0 prints three significant digits where 2.x prints three decimals."""
    text = capture("022").decode().replace("drops ratio: 0.033 %", f"drops ratio: {printed} %")
    row = report(text).exchanges[1]
    assert row["drop_ratio_printed"] == printed
    assert row["drop_ratio"] == (ratio if ratio is None else pytest.approx(ratio))


def test_clean_interim_lines_have_no_header_and_any_separator():
    for separator in (",", ";", " ", "|", "--", " / ", "x"):
        text = capture("014").decode().replace(",", separator, 7 * 3).replace(f"second{separator}", "second,")
        found = report(text)
        assert found.intervals["sent"] == [199, 199, 399, 399, 599, 599]
        assert found.intervals["t_s"] == [None] * 6
        facts = found.facts
        assert (facts["command"], facts["method"], facts["scenario"]) == (None, None, None)
        assert (facts["offered_rate"], facts["protocol"]) == (200.0, "DHCPv4")
        assert (facts["duration_s"], facts["drop_time_s"], facts["clients"]) == (None, None, None)


def test_reports_appended_to_one_file_are_told_apart():
    names = ["014", "014", "089", "014", "127", "143", "022", "170", "040", "146", "001", "053", "014"]
    kinds = [type(part).__name__[:3] for part in parts(b"".join(capture(name) for name in names))]
    assert " ".join(kinds) == "Rep Rep Rej Rep Rej Rej Rep Rej Rep Rej Rep Rej Rep"


@pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\0\0", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_empty_file_says_so(data):
    assert reject(data).reason == "the file is empty"


@pytest.mark.parametrize("name", ["013", "022", "034", "154", "001"])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"\n", b"\r\r\n"),
        lambda data: data.replace(b"\n", b"\r"),
        lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:]),
        lambda data: b"\0\0\0" + data + b"\0\0",
        lambda data: data.replace(b"\n", b"\n    "),
        lambda data: b"Script started on 2026-11-20\n" + data + b"\nScript done on 2026-11-20\n",
        lambda data: b"\x1b[?2004l\r" + data.replace(b"***", b"\x1b[1m***\x1b[0m"),
    ],
    ids=[*("crlf", "crcrlf", "cr", "gzip-members", "nul", "indented"), *("typescript", "escapes")],
)
def test_way_of_recording_does_not_change_the_trial(name, wrap):
    data = wrap(capture(name))
    found, plain = report(data), report(capture(name))
    assert recognise(data) is perfdhcp
    assert (found.facts, found.exchanges) == (plain.facts, plain.exchanges)
    assert (found.intervals, found.observations) == (plain.intervals, plain.observations)
    assert len(found.warnings) == len(plain.warnings)


@pytest.mark.parametrize("name", ["017", "034", "067", "014"])
def test_report_cut_off_at_any_byte_is_accounted_for(name):
    data = capture(name)
    whole = report(data)
    statistics = data.rindex(b"collected packets: 0") + len(b"collected packets: 0")
    for end in range(len(data)):
        found = parts(data[:end])
        assert len(found) == 1
        (part,) = found
        if isinstance(part, Reject):
            assert end < statistics
            continue
        assert part.exchanges == whole.exchanges[: len(part.exchanges)]
        completed = b"clients." in data[:end] if b"avalanche" in data else end >= statistics
        assert part.facts["completed"] == completed
        assert completed or any("cut off" in warning for warning in part.warnings)


@pytest.mark.parametrize(
    "data",
    [
        b"1;" * 1_000_000,
        b"1" * 2_000_000,
        b"x," * 1_000_000,
        b"\x1b[" * 1_000_000,
        b"^C" * 1_000_000,
        b"Running: perfdhcp -4 -w " + b"a " * 300_000,
        b"Running: perfdhcp\n***Leases for X***\n" + b"a:" * 1_000_000,
        b"***Statistics for: DISCOVER-OFFER***\ndrops ratio: " + b"1" * 2_000_000,
        b"Rate: " + b"a/second" * 200_000,
        b"ERROR: running perfdhcp: " + b"x" * 1_000_000 + b"\n" + b"y" * 1_000_000,
        b"***Statistics for: " + b"X" * 1_000_000,
    ],
    ids=[
        *("interim", "digits", "text", "escapes", "ctrl-c", "command", "lease", "ratio", "rate"),
        *("error", "exchange"),
    ],
)
def test_huge_line_is_one_reject(data):
    assert len(reject(data).reason) < 1000


def test_head_of_a_long_capture_is_recognised():
    clean = b"199,199,199,199,0,0,0,0\n" * 4000
    assert recognise(clean[: 64 * 1024]) is perfdhcp
    assert recognise(gzip.compress(clean, compresslevel=0)[: 64 * 1024]) is perfdhcp
