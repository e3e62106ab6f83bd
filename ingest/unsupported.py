"""Common unsupported files, recognised by content so that a reject says what to do.

Tried last, for a file that no reader claims. Magic numbers are those of file(1) and of each format's description.
"""

import re
from itertools import islice
from typing import Final

from dropline.ingest.archives import is_tar
from dropline.ingest.formats.text import HEAD_BYTES, head_text, unpack

_IGNORE: Final = "list it under `ignore:` in campaign.yaml, or keep it outside the folder"
_NAME: Final = "rename it to *.tar, *.tar.gz, *.tar.xz or *.zip, so that it is read as a folder, or unpack it"
_UNPACK: Final = "unpack it, or pack it again as *.tar.gz or *.zip"
_UNREAD: Final = "copy it again, or compress it with gzip"
_SADF: Final = "record with `sar -o FILE`, export it with `sadf -j FILE -- -A`, and ingest that"
_PRINTED: Final = "ingest what the tool printed (stdout, or --json), and list this file under `ignore:`"
_OFFICE: Final = b"[Content_Types].xml"
_OFFICE_AT: Final = 30

_CAPTURES: Final = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
)
_ZIP: Final = b"PK\x03\x04"
_PACKED: Final = (b"7z\xbc\xaf\x27\x1c", b"\x28\xb5\x2f\xfd")  # 7z, Zstandard
_DOCUMENTS: Final = (
    *(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"%PDF-", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    *(b"\x7fELF", b"SQLite format 3\x00", b"PAR1"),
)

_CLOCK: Final = r"\d\d:\d\d:\d\d[.,\d]*"
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_LOGS: Final = "|".join(
    (
        rf"{_MONTH} [ \d]\d {_CLOCK} ",  # syslog, and PowerDNS
        rf"\d\d-{_MONTH}-\d{{4}} {_CLOCK} ",  # BIND
        rf"\d{{4}}-\d\d-\d\d {_CLOCK} (?: *(?:DEBUG|INFO|WARN|ERROR|FATAL) +\[|\d+ \[|\S+ \[\d+\] )",  # Kea, databases
        rf"\d{{4}}-\d\d-\d\dT{_CLOCK}\S* \S+ [^\s\[]+(?:\[\d+\])?: ",  # syslog with ISO times, journald
    )
)
_LISTS: Final = "|".join(
    (
        r"(?i:(?:[0-9a-f]{2}:){5}[0-9a-f]{2})$",  # perfdhcp -M
        r"\d{1,3}(?:\.\d{1,3}){3}$",  # perfdhcp -J
        r"(?i:[0-9a-f]{80,})$",  # perfdhcp -T
        r"[\w*-]+(?:\.[\w*-]+)*\.?[ \t]+[A-Z]{1,6}$",  # queries for dnsperf or resperf
    )
)
# (pattern of the first lines that are not comments, how many of them, reason, hint); the first match wins
_TEXTS: Final = tuple(
    (re.compile(pattern, re.MULTILINE), alike, reason, hint)
    for pattern, alike, reason, hint in (
        (rf"\d{{4}}/\d\d/\d\d {_CLOCK} worker:\[\d+\] reqid:\[", 1, "dnspyre's log of single requests", _PRINTED),
        ("From \\(ns\\), To \\(ns\\), Count", 1, "a distribution of latencies (--csv), which has no rates", _PRINTED),
        ("#!|import \\w|from \\w[\\w.]* import |#include ", 1, "a script or program", _IGNORE),
        (r";; ->>HEADER<<- |; <<>> DiG ", 1, "the answer to one query (dig, kdig), not a load test", _IGNORE),
        (_LISTS, 2, "a list of queries, addresses or packets: the input of a trial", _IGNORE),
        (_LOGS, 1, "the log of a server", _IGNORE),
        (r"Linux \d\S* \(\S+\)\s.*\(\d+ CPU\)", 1, "a printed table of sar or iostat: its times have no zone", _SADF),
        (
            r"\S+\n +description: |H/W path +Device|System:\s+(?:Host|Kernel): |total +used +free|1: lo: <"
            r"|\S+ \| SUCCESS => \{\s+\"ansible_facts",
            1,
            "facts of a machine as text of lshw, inxi, free or ip, or by Ansible",
            "gather them with ingest/machines/collect.sh, which asks for forms that are read",
        ),
        (
            r"(?i:usage): *\S|Traceback |[^:\n]*sh: .*(?:not found|No such file or directory)$",
            1,
            "the message of a program that did not run",
            "fix what it says, and run the trial again",
        ),
        (
            r"\{\s*(?:[\"}]|\Z)|\[\s*(?:[\[{\"\d\]-]|\Z)",
            1,
            "JSON of no known tool",
            "if it holds facts of a trial, rename it as `sidecar:` in campaign.yaml says; else list it under `ignore:`",
        ),
    )
)
_MOST_ALIKE: Final = 2
_LINE: Final = re.compile(r"^[ \t]*(?=\S)(?!#(?![!i])|;(?! <<>>|; ->>)|//)", re.MULTILINE)


def describe(head: bytes) -> tuple[str, str] | None:
    """Return the kind of an unsupported file and what to do about it, None if unknown; `head` is its first 64 KiB."""
    data, fault = unpack(head, HEAD_BYTES)
    if data.startswith(_CAPTURES):
        return "a packet capture: packets, not the report of a load test", _IGNORE
    if data.startswith((b"\x96\xd5", b"\xd5\x96")):
        return "a recording of sar in its binary form", _SADF
    if data.startswith(_DOCUMENTS) or data.startswith(_OFFICE, _OFFICE_AT):
        return "a picture, document, program or database of no known generator", _IGNORE
    if fault and not data:  # damaged, or bzip2 in blocks larger than the head
        return "a compressed file of which nothing can be read", _UNREAD
    if data.startswith(_PACKED):
        return "an archive or a compressed file", _UNPACK
    if data.startswith(_ZIP) or is_tar(data):
        return "an archive or a compressed file", _NAME
    text = head_text(head)
    starts = [match.end() for match in islice(_LINE.finditer(text), _MOST_ALIKE)]
    for pattern, alike, reason, hint in _TEXTS:
        if len(starts) >= alike and all(pattern.match(text, start) for start in starts[:alike]):
            return reason, hint
    return None
