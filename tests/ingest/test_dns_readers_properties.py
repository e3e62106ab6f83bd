"""What holds for any input of the readers of DNS generators, however it was cut, mixed or damaged."""

import re
import time
from functools import cache
from pathlib import Path

import pytest
from accounted import accounted
from hypothesis import given, settings
from hypothesis import strategies as st

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
from dropline.ingest.formats.text import lines

READERS = (dnsblast, dnsperf, resperf, flame, dnspyre, dnstrace, kxdpgun, queryperf)
CAPTURES = Path(__file__).parents[1] / "captures" / "dns"
FOREIGN = b"~ nothing that a generator prints ~"


@cache
def captures() -> tuple[tuple[object, bytes], ...]:
    """All small captures that are a report, each with its reader."""
    found = []
    for path in sorted(CAPTURES.rglob("*")):
        if path.suffix in {".out", ".json", ".gnuplot"} and 0 < path.stat().st_size < 15_000:
            data = path.read_bytes()
            found += [(reader, data) for reader in READERS if reader.sniff(data)]
    return tuple(found)


readers = st.sampled_from(READERS)
known = st.deferred(lambda: st.sampled_from(captures()))
tokens = st.sampled_from(
    (
        *(b"\n", b"\r", b"\r\n", b"^C", b"\0", b"\x1b[", b": ", b"-nan", b"99999999999999999999"),
        *(b"DNS Performance Testing Tool\n", b"Statistics:\n", b"[Status] Command line: dnsperf -y"),
        *(b"[Timeout] Query timed out\n", b"> T ", b"> NOERROR a A 0.1\n", b"1795174898.8: 0.0\n"),
        *(b"# time target_qps actual_qps\n", b"Error: x\n", b"Usage: dnsperf \n", b"Script started"),
        *(b"Sent: [1] - Received: [1] - Reply rate: [1 pps] - Ratio: [100.00%]  \r", b"sendto: x\n"),
        *(b'{"cmdline":"flame","run_id":"x"}\n', b'{"total_s_count":1}\n', b'{"totalRequests":1}\n'),
        *(b"Benchmarking x via udp with 2 concurrent requests\n", b"Total requests:\t\t5\n"),
        *(b"Questions per second:\t 5.0\n", b"DNS timings, 5 datapoints\n", b"Top errors:\n"),
        *(b"using interface a, XDP threads 1, UDP, native mode\n", b"duration: 3 s\n", b"\xd9\xa3"),
    )
)
edits = st.lists(st.tuples(st.integers(0, 15_000), st.integers(0, 300), tokens | st.binary(max_size=20)), max_size=6)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Some captures one after the other, with pieces cut out and other text put in."""
    data = b"".join(data for _, data in draw(st.lists(known, min_size=1, max_size=3)))
    for start, length, text in draw(edits):
        data = data[:start] + text + data[start + length :]
    return data


def check(reader, data: bytes) -> list[Report | Reject]:
    """Read `data` and check what every part promises."""
    parts = accounted(reader, data)
    assert {part.facts["tool"] for part in parts if isinstance(part, Report)} <= {reader.NAME}
    return parts


@given(readers, st.binary(max_size=1000))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_accounted_for(reader, data: bytes) -> None:
    check(reader, data)
    reader.sniff(data)


@given(readers, damaged())
@settings(max_examples=300, deadline=None)
def test_damaged_captures_are_accounted_for(reader, data: bytes) -> None:
    parts = check(reader, data)
    if reader is dnsperf:
        titles = [line for _, line, _ in lines(data) if line == "DNS Performance Testing Tool"]
        assert len(parts) >= len(titles)


@given(known, st.integers(0, 15_000))
@settings(max_examples=200, deadline=None)
def test_cut_captures_are_accounted_for(pair, end: int) -> None:
    reader, data = pair
    check(reader, data[: end % (len(data) + 1)])


@given(known, st.integers(0, 10**6))
@settings(max_examples=200, deadline=None)
def test_foreign_line_is_told_wherever_it_stands(pair, place: int) -> None:
    reader, data = pair
    ends = [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", data))]
    at = ends[place % len(ends)]
    told = str(check(reader, data[:at] + FOREIGN + b"\n" + data[at:]))
    assert FOREIGN.decode() in told


@given(readers, st.data())
@settings(max_examples=100, deadline=None)
def test_appended_captures_give_what_each_gives_alone(reader, draw) -> None:
    own = [data for other, data in captures() if other is reader]
    files = draw.draw(st.lists(st.sampled_from(own), min_size=1, max_size=4))
    if reader is dnsblast:
        # A run that was interrupted ends without a mark; only counters that fall tell of another.
        files = [data for data in files if data.endswith(b"\n")]
    expected = [part.facts if isinstance(part, Report) else None for f in files for part in reader.parse(f)]
    found = check(reader, b"".join(files)) if files else []
    assert [part.facts if isinstance(part, Report) else None for part in found] == expected


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.NAME)
def test_hostile_text_takes_linear_time(reader) -> None:
    head = next(data for other, data in captures() if other is reader)
    hostile = (
        *(b"\r", b"\n", b"^C", b"\x1b[", b"\x1b]", b"{", b'{"a":', b"[", b"-e", b"1", b" ", b": "),
        *(b"Sent: [1] - ", b"Sent: [1", b"> A 1 ", b'COMMAND="', b"dnsblast.c", b"a:b:", b"1.0 "),
        *(b"Total requests:\t", b"Benchmarking ", b"(", b"|", b"\t1 (1)%", b"\xff", b"Error: \n"),
    )
    started = time.process_time()
    for piece in hostile:
        text = piece * (200_000 // len(piece))
        check(reader, head + text)
        check(reader, b"[Status] Command line: dnsperf -" + text)
        reader.sniff(text)
    # Anything quadratic needs minutes for 200 kB.
    assert time.process_time() - started < 30
