"""Reports of perfdhcp, cut and damaged: by columns the usual ones give what their lines give."""

import re
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from dropline.ingest.formats import Report, perfdhcp
from dropline.ingest.formats.perfdhcp_forms import forms
from dropline.ingest.formats.perfdhcp_lines import INTERIM

CAPTURES = [
    path.read_bytes()
    for path in sorted((Path(__file__).parents[1] / "captures" / "perfdhcp" / "odd").glob("[01]*.txt"))
    if path.stat().st_size < 4000
]

USUAL = [data for data, form in zip(CAPTURES, forms(CAPTURES), strict=True) if form]
TOKENS = (
    *(b"Running: perfdhcp -4 -r 1 -p 1\n", b"***Statistics for: REQUEST-ACK***\n", b": ", b"\n", b" ", b"-", b"/0"),
    *(b"sent: 1/1; received: 1/1; drops: 0/0\n", b"5,5,5,5,0,0,0,0\n", b"^C", b"\r", b"\0", b"\xe9"),
    *(b"ERROR: running perfdhcp: x\n", b"Failed to receive DHCP packet: ", b"\x1b[", b"-nan", b"Running: perfdhcp"),
    *(b"0", b"7", b"00", b"00000000000000000000", b".", b"/1", b"e-05", b" -D 1", b" -i", b"RELEASE"),
    *(b"99999999999999999999", b"***Leases for REQUEST-ACK***\n", b"a,10.0.0.1,\n", b"***Rate statistics***\n"),
)
captures = st.sampled_from(CAPTURES)
tokens = st.sampled_from(TOKENS)
edits = st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 200), tokens | st.binary(max_size=20)))


@st.composite
def damaged(draw):
    """Some captures one after the other, with pieces cut out and other text put in."""
    data = b"".join(draw(st.lists(captures, min_size=1, max_size=3)))
    for start, length, text in draw(edits):
        data = data[:start] + text + data[start + length :]
    return data


@given(captures, st.integers(0, 4000), st.sampled_from([c for c in CAPTURES if c[:8] == b"Running:"]))
@settings(max_examples=200, deadline=None)
def test_report_behind_a_cut_one_is_whole(first, end, second):
    cut = first[:end] + b"\n"
    (alone,) = perfdhcp.parse(second)
    expected = replace(alone, line=alone.line + cut.count(b"\n"))
    *_, last = perfdhcp.parse(cut + second)
    if isinstance(last, Report) and isinstance(expected, Report):
        last.warnings = expected.warnings  # they name lines
    assert last == expected


def reading(data):
    """Return whether `data` is read by columns; then it must equal what its lines give."""
    if not (form := forms([data])[0]):
        return False
    figures = form.read([data, data])
    assert figures.usual[0] == figures.usual[1]
    if not figures.usual[1]:
        return False
    (report,) = perfdhcp.parse(data)
    width = len(form.exchanges)
    assert report.facts == figures.row(1)
    assert report.warnings == []
    assert report.exchanges == [
        {name: column[row].as_py() for name, column in figures.exchanges.items()} for row in range(width, 2 * width)
    ]
    for name, counters in zip(INTERIM, figures.interims[:, 1], strict=False):
        assert report.intervals.get(name, []) == counters.ravel().tolist()
    assert report.intervals.get("t_s", []) == [
        line * figures.report_s[1] for line in range(1, figures.interims.shape[2] + 1) for _ in form.exchanges
    ]
    return True


def test_usual_reports_are_read_as_their_lines_are():
    assert sum(map(reading, USUAL)) > len(CAPTURES) // 4


def test_a_usual_report_with_one_edit_is_read_as_its_lines_are():
    text = min((data for data in USUAL if b"sent: 1" in data), key=len)
    edits = [text[:n] + token + text[n:] for n in range(len(text)) for token in TOKENS]
    edits += [text[:n] + text[n + cut :] for n in range(len(text)) for cut in (1, len(text))]
    edits += [re.sub(rb"(\d/\d+)", rb"\1/0/0/0", data) for data in USUAL]  # of five exchanges
    assert 0 < sum(map(reading, edits)) < len(edits) // 10


@given(damaged())
def test_what_is_read_by_columns_is_what_its_lines_give(data):
    reading(data)
