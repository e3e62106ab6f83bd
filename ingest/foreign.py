"""What commonly lies among results and is none: told by its content, so that a reject says what to do about it.

It is asked last, of a file that no reader claims. Magic numbers are those of file(1) and of each format's description.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from dropline.ingest.archives import is_tar
from dropline.ingest.formats.text import HEAD_BYTES, head_text, unpack

_IGNORE: Final = "name it under `ignore:` in campaign.yaml, or keep it outside the folder"
_UNPACK: Final = "unpack it and ingest what is in it"
_NAME: Final = "call it *.tar, *.tar.gz, *.tgz or *.zip, so that it is read as a folder, or unpack it"
_SADF: Final = "export it with `sadf -j FILE -- -A`, and ingest that"
_CONVERT: Final = "save its figures as CSV or JSON, or name it under `ignore:` in campaign.yaml"

_CAPTURE: Final = ("a packet capture: packets, not the report of a load test", _IGNORE)
_MOST_ALIKE: Final = 2

# (offset, bytes there, reason, hint); the first that fits
_MAGIC: Final = (
    (0, b"\xd4\xc3\xb2\xa1", *_CAPTURE),
    (0, b"\xa1\xb2\xc3\xd4", *_CAPTURE),
    (0, b"\x4d\x3c\xb2\xa1", *_CAPTURE),
    (0, b"\xa1\xb2\x3c\x4d", *_CAPTURE),
    (0, b"\x0a\x0d\x0d\x0a", *_CAPTURE),
    (30, b"[Content_Types].xml", "a document or workbook of an office program", _CONVERT),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document or workbook of an office program", _CONVERT),
    (0, b"PK\x03\x04", "a zip archive", _NAME),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (0, b"\xfd7zXZ\x00", "a file compressed with xz", _UNPACK),
    (0, b"\x28\xb5\x2f\xfd", "a file compressed with zstd", _UNPACK),
    (0, b"BZh", "a file compressed with bzip2", _UNPACK),
    (0, b"\x89PNG\r\n\x1a\n", "a picture (PNG)", _IGNORE),
    (0, b"\xff\xd8\xff", "a picture (JPEG)", _IGNORE),
    (0, b"GIF8", "a picture (GIF)", _IGNORE),
    (0, b"%PDF-", "a PDF document: its figures cannot be read from here", _IGNORE),
    (0, b"\x7fELF", "a compiled program or library", _IGNORE),
    (0, b"SQLite format 3\x00", "an SQLite database, but of no generator that is known", _IGNORE),
    (0, b"PAR1", "a Parquet file: a table, but of no generator that is known", _IGNORE),
    (8, b"DUCK", "a DuckDB database", _IGNORE),
    (0, b"PERFILE2", "a recording of perf", _IGNORE),
    (0, b"\x96\xd5", "what sar recorded, in its binary form", _SADF),
    (0, b"\xd5\x96", "what sar recorded, in its binary form", _SADF),
)

_INPUT: Final = "it was the input of a trial, not its result: name it under `ignore:` in campaign.yaml"
_PROGRAM: Final = "it may have made the results, but is none: name it under `ignore:` in campaign.yaml"
_AGAIN: Final = "repair what it says and run the trial again"

_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK: Final = r"\d\d:\d\d:\d\d[.,\d]*"
_LOGS: Final = "|".join(
    (
        rf"{_MONTH} [ \d]\d {_CLOCK} ",  # syslog, and PowerDNS
        rf"\d\d-{_MONTH}-\d{{4}} {_CLOCK} ",  # BIND
        rf"\d{{4}}-\d\d-\d\d {_CLOCK} +(?:DEBUG|INFO|WARN|ERROR|FATAL) +\[",  # Kea
        rf"\d{{4}}-\d\d-\d\d {_CLOCK} +\d+ \[(?:Note|Warning|ERROR|System)\]",  # MariaDB, MySQL
        rf"\d{{4}}-\d\d-\d\d {_CLOCK} \S+ \[\d+\] ",  # PostgreSQL
        rf"\d{{4}}-\d\d-\d\dT{_CLOCK}\S* \S+ [^\s\[]+(?:\[\d+\])?: ",  # syslog with ISO times, journald
        r"\[\d{10}\] unbound\[",
        rf"\S+ \S+ \S+ \[\d\d/{_MONTH}/\d{{4}}:",  # web servers and load balancers
    )
)
_TYPE: Final = "(?:A|AAAA|ANY|CAA|CNAME|DNSKEY|DS|HTTPS|MX|NAPTR|NS|PTR|SOA|SRV|SVCB|TLSA|TXT)"

# (pattern of the first lines that are no comments, how many of them, reason, hint); the first that fits
_TEXTS: Final = tuple(
    (re.compile(pattern, re.MULTILINE), alike, reason, hint)
    for pattern, alike, reason, hint in (
        ("#!", 1, "a script", _PROGRAM),
        (r"Traceback \(most recent call last\):", 1, "the error of a Python program, not a result", _AGAIN),
        (r"(?i:<!doctype html|<html)", 1, "an HTML page", _CONVERT),
        (r"<\?xml|<svg", 1, "an XML document or picture of no known generator", _IGNORE),
        (r";; ->>HEADER<<- |; <<>> DiG ", 1, "the answer to one query (dig, kdig), not a load test", _IGNORE),
        (r"\$(?:ORIGIN|TTL)\s|\S+[ \t]+(?:\d+[ \t]+)?IN[ \t]+SOA\s", 1, "a DNS zone", _INPUT),
        (
            rf"\d{{4}}/\d\d/\d\d {_CLOCK} worker:\[\d+\] reqid:\[",
            1,
            "dnspyre's log of single requests",
            "ingest what dnspyre printed at its end (stdout, or --json), and name the log under `ignore:`",
        ),
        (
            r"From \(ns\), To \(ns\), Count",
            1,
            "the distribution of latencies that dnspyre or dnstrace writes with --csv: it has no rates",
            "ingest what the tool printed (stdout, or --json), and name this file under `ignore:`",
        ),
        (
            r"(?:\[pid +\d+\] |\d+ +)?(?:\d[\d:.]* )?(?:execve\(\"|[a-z_0-9]+\(.*\) += (?:-?\d|\?))",
            2,
            "a trace of system calls (strace)",
            _IGNORE,
        ),
        (_LOGS, 1, "the log of a server", _IGNORE),
        (r"diff --git |--- \S.*\n\+\+\+ \S|Index: \S.*\n=====", 1, "a patch of a program or configuration", _IGNORE),
        (
            r"-- (?:MySQL|MariaDB|PostgreSQL) |--\n-- |/\*M?!\d{5}|PRAGMA |BEGIN TRANSACTION;"
            r"|(?i:create|drop|alter) (?i:table|database|index)\s|(?i:insert into)\s",
            1,
            "a dump of a database, or a script of SQL",
            _IGNORE,
        ),
        (
            r"(?:re|un)?set (?:term(?:inal)?|output|title|[xyz]2?(?:label|range|data)|key|grid|datafile|style)\b"
            r"|s?plot ['\"<\[$]",
            1,
            "a script of gnuplot",
            _PROGRAM,
        ),
        (
            r'r?"""[A-Z][^"]*(?:"""\s*)?$|from \w[\w.]* import \S|import \w[\w., ]*$'
            r"|(?:async )?def \w+\(|class \w+[(:]",
            1,
            "a Python program",
            _PROGRAM,
        ),
        (r"#include [<\"]", 1, "a C program", _PROGRAM),
        (
            r"Linux \d\S* \(\S+\)\s+\S+\s+_\S+_\s+\(\d+ CPU\)",
            1,
            "a printed table of sar, iostat, mpstat or pidstat: its times have no zone",
            "record with `sar -o FILE`, export it with `sadf -j FILE -- -A`, and ingest that",
        ),
        (rf"procs -+memory|top - {_CLOCK} up ", 1, "what vmstat or top printed: it has no times in UTC", _IGNORE),
        (rf"[\w*-]+(?:\.[\w*-]+)*\.?[ \t]+{_TYPE}$", 2, "queries for dnsperf or resperf", _INPUT),
        (r"(?i:(?:[0-9a-f]{2}:){5}[0-9a-f]{2})$", 2, "a list of MAC addresses, as perfdhcp takes it with -M", _INPUT),
        (r"\d{1,3}(?:\.\d{1,3}){3}$", 2, "a list of IP addresses, as perfdhcp takes it with -J", _INPUT),
        (r"(?i:[0-9a-f]{80,})$", 1, "a packet in hexadecimal digits, as perfdhcp takes it with -T", _INPUT),
        (r"[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\.?$", 2, "a list of names to ask for", _INPUT),
        (
            r"(?i:usage): *\S",
            1,
            "a usage text: the program was called wrongly, or asked for help",
            "call it as the text says, and keep what it prints then",
        ),
        (
            r"[^:\n]*sh: (?:(?:line )?\d+: )?.*: (?:command not found|not found|No such file or directory)$",
            1,
            "the error of a shell: the program did not start",
            _AGAIN,
        ),
        (
            r"\{\s*(?:[\"}]|\Z)|\[\s*(?:[\[{\"\d\]-]|\Z)",
            1,
            "JSON that no known tool writes",
            "if it tells facts of a trial, name it as `sidecar:` in campaign.yaml says; else name it under `ignore:`",
        ),
    )
)
_LINE: Final = re.compile(r"^[ \t]*(?=\S)(?!#(?![!i])|;(?! <<>>|; ->>)|//)", re.MULTILINE)


def describe(head: bytes) -> tuple[str, str] | None:
    """Return what a file is that is known to be no result, and what to do about it; None for any other.

    `head` is its first 64 KiB, or all of it, perhaps in gzip.
    """
    data, _ = unpack(head, HEAD_BYTES)
    if is_tar(data):
        return "a tar archive", _NAME
    for offset, magic, reason, hint in _MAGIC:
        if data.startswith(magic, offset):
            return reason, hint
    text = head_text(head)
    starts = [match.end() for match in islice(_LINE.finditer(text), _MOST_ALIKE)]
    for pattern, alike, reason, hint in _TEXTS:
        if len(starts) >= alike and all(pattern.match(text, start) for start in starts[:alike]):
            return reason, hint
    return None
