"""Unsupported files: what a reject says of them and what to do is in readings.jsonl, of whichever no reader claims."""

import gzip
import lzma
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dropline.ingest.unsupported import describe

MADE = Path(__file__).parent / "made" / "unsupported"

# What is of no kind that can be told, or may be a result that a reader does not know yet.
UNKNOWN = (
    "",
    "\n\n",
    "rate 100\nloss 0.5\n",
    "a,b\n1,2\n",
    "# only a comment\n",
    "2026-11-20 11:12:01 123.4\n",
    "settings = 5\n",
    "example.com\n",
    "Queries per second: 5\n",
    "\xff\xfe",
)


def test_a_text_is_told_however_it_is_packed_or_encoded():
    for data in filter(bytes.isascii, [file.read_bytes() for file in MADE.iterdir()]):
        packed = gzip.compress(data), lzma.compress(data, preset=0)
        told = [describe(each) for each in (data, *packed, data.decode().encode("utf-16"), b"\xef\xbb\xbf" + data)]
        assert told == [told[0]] * 5 != [None] * 5


@pytest.mark.parametrize("text", UNKNOWN)
def test_other_texts_are_left_to_the_general_answer(text):
    assert describe(text.encode()) is None


@given(st.binary(max_size=500) | st.text(max_size=500).map(str.encode))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_described_or_not(data):
    said = describe(data)
    assert said is None or all(said)


def test_hostile_text_takes_linear_time():
    pieces = ("0", "a", " ", "\n", "#", "a.", "1:", "(", "a(", ") = ", "aa:", "::", "-- ", "{", '"', "[pid 1] ", "x x ")
    started = time.process_time()
    for piece in pieces:
        for start in ("", "\x1b", "import ", "Index: ", "--- ", "example.com "):
            describe((start + piece * (65_000 // len(piece))).encode())
    # Anything quadratic needs minutes for 64 kB.
    assert time.process_time() - started < 20
