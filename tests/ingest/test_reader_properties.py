"""What holds for any input of any reader of a registry, however it was cut, mixed or damaged."""

import bz2
import gzip
import lzma
import re
import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dropline.ingest.formats import READERS, Report, ixload, perfdhcp, testcenter_results
from dropline.ingest.telemetry import TELEMETRY_READERS, Sample
from tests.fuzz.targets import promised

CAPTURES = Path(__file__).parents[1] / "captures"
LARGEST = 32_000  # bytes of a capture that is damaged
FOREIGN = b"~ nothing that a generator prints ~"
SEEDS = Path(__file__).parents[1] / "fuzz" / "seeds"  # what no capture is at hand of
ALL = (*READERS, *TELEMETRY_READERS)
OF_TEXT = [reader for reader in READERS if hasattr(reader, "LINES")]
DNS = [reader for reader in OF_TEXT if reader is not perfdhcp]
# Of these tables every row is a trial.
ROW_TABLES = (
    *("2544-Tput-Summary-1_2012-05-14_10-20-30.csv", "vsperf_Rfc2544Tput.csv", "nfvi_traffic_summary.csv"),
    *("ixnetwork_AggregateResults.csv", "vsperf_result_0_phy2phy_tput_p2p.csv"),
)
# A last row may lack its end of line there; between two rows nobody can tell that a lease file was cut.
MAY_END_ANYWHERE = {"prometheus_csv", "cloudwatch", "kea_leases"}


@cache
def texts():
    """Every small capture and seed, each with the reader that knows it; a database is no text."""
    small = (path for folder in (CAPTURES, SEEDS) for path in sorted(folder.rglob("*")) if path.is_file())
    found = [path.read_bytes() for path in small if path.stat().st_size < LARGEST]
    readers = [reader for reader in ALL if reader is not testcenter_results]
    return tuple((reader, data) for data in found for reader in readers if reader.sniff(data))


def own(reader):
    """Return the texts of one reader that begin with a report."""
    return [data for other, data in texts() if other is reader and isinstance(next(reader.parse(data)), Report)]


def some(wanted):
    """Return a strategy for those texts, each with its reader, that are `wanted`."""
    return st.deferred(lambda: st.sampled_from([pair for pair in texts() if wanted(*pair)]))


known = some(lambda *_: True)
of_tables = some(lambda reader, _: reader in READERS and reader not in OF_TEXT)
of_no_lines = some(lambda reader, _: reader not in OF_TEXT)
reports = st.deferred(lambda: st.sampled_from([(reader, data) for reader in DNS for data in own(reader)]))


def check(reader, data):
    """Read `data`, check what every part promises, and return the parts that are no rejects."""
    found = promised(reader.parse(data), data)
    assert all(part.metric for part in found if isinstance(part, Sample))
    return found


@pytest.mark.parametrize("reader", ALL, ids=lambda reader: reader.NAME)
def test_captures_of_every_reader_are_accounted_for_in_any_wrapping(reader):
    for data in [data for other, data in texts() if other is reader]:
        found = check(reader, data)
        wrapped = [gzip.compress(data), lzma.compress(data, preset=0), bz2.compress(data), b"\xef\xbb\xbf" + data]
        if data.isascii():
            wrapped.append(data.decode().encode("utf-16"))
        if reader in TELEMETRY_READERS:
            wrapped += [data.replace(b"\n", b"\r\n"), data.replace(b"\n", b"\r")]
        for each in wrapped:
            assert reader.sniff(each)
            assert check(reader, each) == found
        for each in wrapped[:3]:
            *_, fault = reader.parse(each[:-4])
            assert "damaged" in fault.reason or not found


@given(known, st.integers(0, LARGEST))
@settings(max_examples=500, deadline=None)
def test_cut_captures_are_accounted_for_and_give_nothing_more(pair, end):
    reader, data = pair
    end %= len(data) + 1
    whole, kept = check(reader, data), check(reader, data[:end])
    check(reader, gzip.compress(data)[:end])
    assert len(kept) <= len(whole) or reader in OF_TEXT
    if reader in TELEMETRY_READERS and reader.NAME not in MAY_END_ANYWHERE:
        assert kept == whole[: len(kept)]


@given(st.sampled_from(ROW_TABLES), st.integers(0, 10_000))
@settings(max_examples=150, deadline=None)
def test_row_of_a_cut_table_is_as_in_the_whole_one_or_not_complete(name, end):
    data = (CAPTURES / "spirent" / name).read_bytes()
    reader = next(reader for reader in READERS if reader.sniff(data))
    for cut, full in zip(check(reader, data[:end]), check(reader, data), strict=False):
        assert not cut.facts["completed"] or cut.facts == full.facts


@given(of_tables, st.integers(1, 6000))
@settings(max_examples=150, deadline=None)
def test_table_or_document_behind_a_cut_one_is_read(pair, end):
    reader, data = pair
    alone = check(reader, data)
    found = check(reader, data[:end].rstrip(b"\n") + b"\n" + data)
    if reader.sniff(data[:end]):
        assert found[-1].facts["achieved_rate"] == alone[-1].facts["achieved_rate"]


@given(reports, st.integers(0, 10**6))
@settings(max_examples=200, deadline=None)
def test_foreign_line_is_told_wherever_it_stands(pair, place):
    reader, data = pair
    ends = [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", data))]
    at = ends[place % len(ends)]
    text = data[:at] + FOREIGN + b"\n" + data[at:]
    check(reader, text)
    assert FOREIGN.decode() in str(list(reader.parse(text)))


@given(st.sampled_from(OF_TEXT), st.data())
@settings(max_examples=200, deadline=None)
def test_appended_reports_give_what_each_gives_alone(reader, draw):
    # A run of dnsblast that was interrupted ends without a mark; only counters that fall tell of another.
    files = [data for data in own(reader) if data.endswith(b"\n")]
    chosen = draw.draw(st.lists(st.sampled_from(files), min_size=1, max_size=4))
    alone = [(part.facts, part.intervals) for data in chosen for part in check(reader, data)]
    assert [(part.facts, part.intervals) for part in check(reader, b"".join(chosen))] == alone


@given(of_no_lines, st.data())
@settings(max_examples=200, deadline=None)
def test_a_text_that_was_appended_to_gives_what_each_part_gives_alone(pair, draw):
    reader, first = pair
    if reader in READERS:  # several trials of a table have a number each
        rates = [part.facts["achieved_rate"] for part in check(reader, first)]
        assert [part.facts["achieved_rate"] for part in check(reader, (first.rstrip() + b"\n") * 3)] == rates * 3
        return
    alike = [data for other, data in texts() if other is reader and data[:1] == first[:1]]
    first, second = (data.removesuffix(b"\n") + b"\n" for data in (first, draw.draw(st.sampled_from(alike))))
    assert check(reader, first + second) == check(reader, first) + check(reader, second)


@pytest.mark.parametrize("wrong", [b"-5", b"1e308", b"9" * 400, b"NaN", b"", b"0", b"-0.0", b"1e-320"])
def test_all_numbers_may_be_huge_negative_or_none(wrong):
    for reader, data in texts():
        check(reader, re.sub(rb"(?<=[:,= ])\d+(?:\.\d+)?", wrong, data))


@pytest.mark.parametrize("reader", (*DNS, *TELEMETRY_READERS, ixload), ids=lambda reader: reader.NAME)
def test_hostile_text_takes_linear_time(reader):
    head = next(data for other, data in texts() if other is reader)
    pieces = (
        *(b"\r", b"a\n", b"\x1b[", b"{", b'{"a":', b"[", b"1", b" ", b"\xff"),
        *(
            (
                *(b"a", b'"', b'""', b"\\", b",", b";", b"=", b"a=", b'a{b="', b'{b="c",', b'a{b="c"} 1 # {', b"a.b"),
                *(b";a=b", b"Udp: a ", b"Ip6", b"1 2 ", b"1:2:", b"# HELP a", b"a=1,", b"Time,", b"00000000", b"sep="),
                *(b'{"utc":"', b"2026-11-20T12:00:00Z,"),
            )
            if reader in TELEMETRY_READERS
            else (
                *(b"^C", b"\x1b]", b"-e", b": ", b"Sent: [1] - ", b"Sent: [1", b"> A 1 ", b'COMMAND="', b"dnsblast.c"),
                *(b"a:b:", b"1.0 ", b"Total requests:\t", b"Benchmarking ", b"(", b"|", b"\t1 (1)%", b"Error: \n"),
                b"[Status] Command line: dnsperf -",
            )
        ),
    )
    started = time.process_time()
    for piece in pieces:
        text = piece * (100_000 // len(piece))
        check(reader, head + text)
        check(reader, text + b"\n")
        reader.sniff(text[:65536])
    # Anything quadratic needs minutes for 100 kB.
    assert time.process_time() - started < 20
