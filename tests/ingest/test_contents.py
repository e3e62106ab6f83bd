"""What people put around the output of a tool changes none of its figures: prefixes, other tools' outputs, notes."""

import gzip
import json
import re
from functools import cache
from itertools import permutations, zip_longest
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dropline.ingest import formats
from dropline.ingest.files import HEAD_BYTES
from dropline.ingest.formats import Report, contents, dnsperf, resperf
from dropline.ingest.formats.contents import OF_TEXT
from dropline.ingest.show import show

CAPTURES = Path(__file__).parents[1] / "captures"
PREFIXES = yaml.safe_load(Path(__file__).with_name("banners.yml").read_text())["prefixes"]


@cache
def captures():
    """Return small captures that are whole reports, by their reader."""
    found = {}
    for path in sorted(CAPTURES.rglob("*")):
        if path.suffix in {".out", ".txt", ".json"} and 0 < path.stat().st_size < 15_000:
            data = path.read_bytes()
            reader = formats.recognise(data[:HEAD_BYTES])
            if reader in OF_TEXT and all(isinstance(part, Report) for part in reader.parse(data)):
                found.setdefault(reader.NAME, []).append((path, data))
    return found


def read(data):
    """Return what a file comes to that lies among results."""
    head = data[:HEAD_BYTES]
    reader = formats.recognise(head) or contents.behind(head)
    return [*contents.parse(reader, data)] if reader else []


def figures(parts):
    return [
        (part.facts, part.exchanges, part.intervals, part.observations) for part in parts if isinstance(part, Report)
    ]


def prefixed(data, prefix, *, trimmed=False):
    lines = data.decode().split("\n")
    end = lines.pop() if not lines[-1] else None
    stamped = [prefix.format(number // 60 % 60, number % 60) + line for number, line in enumerate(lines)]
    text = "\n".join(line.rstrip(" ") if trimmed else line for line in stamped)
    return (text + "\n" * (end is not None)).encode()


tools = st.deferred(lambda: st.sampled_from(sorted(captures())))
some_captures = tools.flatmap(lambda tool: st.sampled_from(captures()[tool]))
prefixes = st.sampled_from(sorted(PREFIXES))


@pytest.mark.parametrize("name", PREFIXES)
@pytest.mark.parametrize("tool", sorted(reader.NAME for reader in OF_TEXT))
def test_a_report_behind_a_prefix_has_the_figures_and_lines_of_the_report(tool, name):
    for path, data in captures()[tool][:6]:
        if name == "a word" and data.count(b"\n") < 2:
            continue  # of a single line nobody can say what stands before it
        plain, found = read(data), read(prefixed(data, PREFIXES[name]))
        assert figures(found) == figures(plain), path
        assert [part.line for part in found] == [part.line for part in plain], path
        if name == "GitHub Actions" and tool != "dnsblast":  # whose only line is known with its prefix
            assert all(part.within.printed_at.startswith("2026-11-22 10:") for part in found), path


@given(some_captures, prefixes, prefixes, st.booleans(), st.booleans())
@settings(max_examples=300, deadline=None)
def test_no_prefix_ever_changes_a_figure(capture, outer, inner, trimmed, packed):
    _, data = capture
    wrapped = prefixed(prefixed(data, PREFIXES[inner]), PREFIXES[outer], trimmed=trimmed)
    found = figures(read(gzip.compress(wrapped) if packed else wrapped))
    assert found in (figures(read(data)), [])


@given(some_captures, prefixes, st.data())
@settings(max_examples=300, deadline=None)
def test_a_line_that_lost_its_prefix_is_left_out_and_told(capture, name, draw):
    _, data = capture
    lines = prefixed(data, PREFIXES[name]).split(b"\n")
    place = draw.draw(st.integers(0, len(lines) - 1))
    lines[place] = data.split(b"\n")[place]
    whole = figures(read(data))
    for facts, *_ in figures(read(b"\n".join(lines))):
        for column in ("sent", "received", "dropped") if facts["completed"] else ():
            assert facts[column] in {None, *(each[0][column] for each in whole)}


@given(some_captures, st.text(st.characters(codec="ascii", exclude_characters="\n\r\x1b\0"), min_size=1, max_size=20))
@settings(max_examples=300, deadline=None)
def test_any_constant_prefix_gives_the_figures_or_none(capture, prefix):
    _, data = capture
    plain = figures(read(data))
    for each in figures(read(prefixed(data, prefix.replace("{", "(").replace("}", ")") + " "))):
        assert any(
            all(each[0][column] in {None, whole[0][column]} for column in ("sent", "received", "dropped"))
            for whole in plain
        )


def test_programs_that_log_into_one_file_are_told_apart():
    data = (CAPTURES / "dns/tools/dnsperf/ipv6/dnsperf.out").read_bytes()
    lines = [f"dnsperf-1  | {line}\npdns-1     | {n} queries" for n, line in enumerate(data.decode().splitlines())]
    (found,) = read(("Attaching to dnsperf-1, pdns-1\n" + "\n".join(lines) + "\n").encode())
    assert figures([found]) == figures(read(data))
    assert found.line == 2
    assert found.warnings == [
        "Left out, as they lack the prefix of the others: 1 line, the first is line 1.",
        "It is one of 2 writers whose lines are in this log.",
    ]


def test_two_generators_that_log_into_one_file_at_a_time_are_two_trials():
    first, second = (
        (CAPTURES / f"dns/tools/dnsperf/{name}/dnsperf.out").read_bytes() for name in ("ipv6", "mysql-tcp")
    )
    both = zip_longest(first.decode().splitlines(), second.decode().splitlines(), fillvalue="")
    text = "\n".join(f"a-1  | {one}\nb-1  | {other}" for one, other in both)
    assert figures(read((text + "\n").encode())) == [*figures(read(first)), *figures(read(second))]


@pytest.mark.parametrize("tool", ["dnsperf", "flame", "perfdhcp", "resperf"])
def test_what_ansible_keeps_of_a_program_is_read_once(tool):
    for path, data in captures()[tool][:6]:
        text = data.decode().rstrip("\n")
        result = {"changed": True, "cmd": [tool], "rc": 0, "stdout": text, "stdout_lines": text.split("\n")}
        printed = {"result.stdout_lines": text.split("\n")}
        for wrapped in (
            json.dumps(result),
            json.dumps(result, indent=4),
            f"TASK [debug] ***\nok: [client] => {json.dumps(printed, indent=4)}\n",
        ):
            assert figures(read(wrapped.encode())) == figures(read(f"{text}\n".encode())), path


@pytest.mark.parametrize("tool", sorted(reader.NAME for reader in OF_TEXT))
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_json_file_log_of_docker_has_the_figures_and_lines_of_the_report(stream, tool):
    for _, data in captures()[tool][:6]:
        logged = "".join(
            json.dumps({"log": line + "\n", "stream": stream, "time": "2026-11-22T10:00:00.1234567Z"}, separators=",:")
            + "\n"
            for line in data.decode().removesuffix("\n").split("\n")
        )
        found = read(logged.encode())
        assert figures(found) == figures(read(data.rstrip(b"\n") + b"\n"))
        assert [part.line for part in found] == [part.line for part in read(data)]


def test_lines_of_json_keep_their_numbers():
    data = (CAPTURES / "dns/tools/dnsperf/ipv6/dnsperf.out").read_text() + "what is this\n"
    lines = data.splitlines()
    (found,) = read(json.dumps({"rc": 0, "stdout_lines": lines}, indent=4).encode())
    assert found.warnings == [f"Line {len(lines) + 3} is not from dnsperf: 'what is this'."]


@pytest.mark.parametrize("tools", [*permutations(sorted(reader.NAME for reader in OF_TEXT), 2)], ids="-".join)
def test_of_two_tools_in_one_file_no_report_is_lost(tools):
    (_, first), (_, second) = (captures()[tool][0] for tool in tools)
    separate = figures(read(first)) + figures(read(second))
    for between in (b"\n", b"\n## notes of the day\n"):
        assert figures(read(first + between + second)) == separate


def test_all_tools_in_one_file_stay_apart_and_their_lines_have_the_numbers_of_the_file():
    datas = [captures()[tool][0][1].rstrip(b"\n") + b"\n\n" for tool in sorted(captures())]
    found = read(b"".join(datas))
    assert figures(found) == [each for data in datas for each in figures(read(data))]
    begins = [len(re.findall(rb"\r?\n|\r", b"".join(datas[:place]))) for place in range(len(datas))]
    assert [part.line for part in found] == [
        begin + part.line for begin, data in zip(begins, datas, strict=True) for part in read(data)
    ]


def test_what_no_tool_printed_between_two_reports_is_told():
    first = (CAPTURES / "dns/tools/resperf/lmdb-default/resperf.out").read_bytes()
    second = (CAPTURES / "dns/tools/dnsperf/ipv6/dnsperf.out").read_bytes()
    found = read(first + b"with more threads:\n" + second)
    line = first.count(b"\n") + 1
    assert found[0].warnings[-1] == f"Line {line} is not from resperf: 'with more threads:'."
    assert [part.facts["tool"] for part in found] == ["resperf", "dnsperf"]


def test_many_changes_of_the_tool_are_told_and_not_read_for_ever():
    data = b"flaming target(s) [x]\nDNS Performance Testing Tool\n" * 6000
    *_, last = read(data)
    assert "change 10000 times" in last.reason or "more parts" in last.reason


STATISTICS = b"""Statistics:

  Queries sent:         2,289,780
  Queries completed:    2,289,700 (99.99%)
  Queries lost:         80    (0.00%)

  Response codes:       NOERROR 2,289,690 (100.00%), NXDOMAIN 10 (0.00%)
  Average packet size:  request 29, response 77
  Run time (s):         30.00
  Queries per second:   76,323.53

  Average Latency (s):  0.001294  (min 0.000012, max 0.202060)
  Latency StdDev (s):   0.001936
"""


MAXIMUM = b"""Statistics:

  Queries sent:         40000
  Queries completed:    39347
  Queries lost:         653
  Run time (s):         11.769559
  Maximum throughput:   8876.000000 qps
  Lost at that point:   2.07%
"""


@pytest.mark.parametrize("head", [b"", b"Statistics:\n\n"])
@pytest.mark.parametrize("around", [b"%s", b"# Results\n\n### Unbound\n\n```\n%s```\n", b"Dear all,\n\n%s\nRegards\n"])
def test_statistics_without_the_title_are_read_with_separated_thousands_and_rounded(head, around):
    block = head + STATISTICS.removeprefix(b"Statistics:\n\n")
    (found,) = read(around % block)
    facts = found.facts
    assert facts["tool"] == "dnsperf"
    assert (facts["sent"], facts["received"], facts["dropped"]) == (2289780, 2289700, 80)
    assert (facts["achieved_rate"], facts["duration_s"], facts["command"]) == (76323.53, 30.0, None)
    assert facts["completed"]
    observed = {(each.metric, each.label): each.value for each in found.observations}
    assert observed["responses", "NOERROR"] == 2289690
    assert observed["latency_max", None] == 202.06


def test_several_blocks_without_titles_are_as_many_trials_of_their_tools():
    block = STATISTICS.replace(b"2,289,780", b"2289780")
    found = read(b"## one\n" + block + b"## two\n" + MAXIMUM + b"## three\n" + STATISTICS)
    assert [part.facts["tool"] for part in found] == ["dnsperf", "resperf", "dnsperf"]
    assert [part.facts["sent"] for part in found] == [2289780, 40000, 2289780]
    assert not dnsperf.sniff(MAXIMUM)
    assert not resperf.sniff(block)


@pytest.mark.parametrize("end", range(0, len(STATISTICS), 3))
def test_a_block_that_is_cut_never_tells_other_totals(end):
    for part in read(STATISTICS[:end]):
        if isinstance(part, Report):
            assert (part.facts["sent"], part.facts["achieved_rate"]) == (2289780, 76323.53)


def test_what_nobody_can_read_is_told_with_the_tool_whose_lines_were_seen(tmp_path):
    data = (CAPTURES / "dns/tools/kxdpgun/lmdb/Q1000.out").read_text()
    lines = [f"{'ab' * number}{number}~{line}" for number, line in enumerate(data.splitlines())]
    (tmp_path / "odd.txt").write_text("\n".join(lines))
    (reject,) = show(tmp_path / "odd.txt").outcome.rejects
    assert "line 1 has output of kxdpgun, but not at its start: '0~using interface" in reject["reason"]
    assert "remove what comes before" in reject["hint"]


def test_a_log_of_prefixed_lines_is_shown_line_by_line(tmp_path):
    data = (CAPTURES / "dns/tools/dnsperf/ipv6/dnsperf.out").read_bytes()
    (tmp_path / "ci.log").write_bytes(prefixed(data, PREFIXES["GitHub Actions"]))
    told = show(tmp_path / "ci.log")
    assert told.kind == "output of dnsperf"
    assert told.lines[0] == (1, "DNS Performance Testing Tool", "of dnsperf")
    assert [trial.row["sent"] for trial in told.trials] == [600]
