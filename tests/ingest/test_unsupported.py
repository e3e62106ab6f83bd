"""Unsupported files: the reject says what they are and what to do."""

import gzip
import io
import lzma
import tarfile
import time
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dropline.ingest.formats import READERS
from dropline.ingest.telemetry import TELEMETRY_READERS
from dropline.ingest.unsupported import describe


def archive(kind):
    """Return a small archive that holds one file."""
    stream = io.BytesIO()
    if kind == "tar":
        with tarfile.open(fileobj=stream, mode="w") as tar:
            tar.addfile(tarfile.TarInfo("rate100.txt"))
    else:
        name = "[Content_Types].xml" if kind == "office" else "rate100.txt"
        with zipfile.ZipFile(stream, "w") as file:
            file.writestr(name, "x")
    return stream.getvalue()


BINARY = {
    b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00": "a packet capture",
    b"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00": "a packet capture",
    b"\xd4\xc3\xb2\xa1".ljust(257, b"\0") + b"ustar": "a packet capture",
    archive("zip"): "an archive",
    archive("office"): "document",
    archive("tar"): "an archive",
    gzip.compress(archive("tar")): "an archive",
    lzma.compress(b"x"): "a compressed file",
    b"\x89PNG\r\n\x1a\n\0\0": "a picture",
    b"%PDF-1.7\n": "document",
    b"\x7fELF\x02\x01\x01": "program",
    b"PAR1\x15\x04": "database",
    b"\x96\xd5\x75\x21\x0c\x06\x01\x00": "a recording of sar",
}

TEXTS = {
    "#!/bin/sh\nperfdhcp -4\n": "a script",
    "# tool\nfrom pathlib import Path\n": "a script",
    "\n; <<>> DiG 9.18.33 <<>> @127.0.0.1 a.com\n": "the answer to one query",
    "Nov 20 11:12:01 [bindbackend] Done parsing domains\n": "the log of a server",
    "2026-11-20 11:12:01.123 INFO  [kea-dhcp4.dhcp4/12.34] DHCP4_STARTED Kea is up\n": "the log of a server",
    "2026-11-20 11:12:01 0 [Note] mariadbd: ready for connections.\n": "the log of a server",
    "2026-11-20 11:12:01.123 UTC [77] LOG:  starting PostgreSQL 15.4\n": "the log of a server",
    "20-Nov-2026 11:12:01.123 general: info: running\n": "the log of a server",
    "2026-11-20T11:12:01+00:00 ns1 pdns_server[7]: started\n": "the log of a server",
    "Linux 6.1.0 (ns1) \t11/20/2026 \t_x86_64_\t(2 CPU)\n\n11:12:01 AM CPU %user\n": "a printed table of sar",
    "# names\na1b2.com.\tA\nwww.example.com\tMX\n": "the input of a trial",
    "00:0C:01:02:03:04\n00:0c:01:02:03:05\n": "the input of a trial",
    "01010601008b45d2" * 20 + "\n" + "01010601008b45d2" * 20 + "\n": "the input of a trial",
    "Usage: kdig [-4] [-6] @server name\n": "did not run",
    "bash: line 1: dnsperf: command not found\n": "did not run",
    "[]": "JSON of no known tool",
    '{\n "v4_st_memfile_none": [1]\n}': "JSON of no known tool",
}

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


@pytest.mark.parametrize(("data", "words"), BINARY.items(), ids=BINARY.values())
def test_binary_files_are_told_by_their_magic_numbers(data, words):
    reason, hint = describe(data)
    assert words in reason
    assert hint


@pytest.mark.parametrize(("text", "words"), TEXTS.items(), ids=range(len(TEXTS)))
def test_texts_are_told_by_their_first_lines(text, words):
    for data in (text.encode(), gzip.compress(text.encode()), text.encode("utf-16"), b"\xef\xbb\xbf" + text.encode()):
        reason, hint = describe(data)
        assert words in reason
        assert hint


@pytest.mark.parametrize("text", UNKNOWN)
def test_other_texts_are_left_to_the_general_answer(text):
    assert describe(text.encode()) is None


def test_samples_of_this_page_are_claimed_by_no_reader():
    for data in (*BINARY, *(text.encode() for text in TEXTS)):
        assert [reader.NAME for reader in (*READERS, *TELEMETRY_READERS) if reader.sniff(data)] == [], data[:80]


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
