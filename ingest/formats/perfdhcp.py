"""The reader of perfdhcp's output, from Kea 1.4 to 3.x.

Only its source defines what perfdhcp prints (isc-projects/kea, src/bin/perfdhcp: test_control.cc, stats_mgr.h,
avalanche_scen.cc); perfdhcp(8) describes the options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats.perfdhcp_lines import KEYS, START, Line, Process, Stage, clean_counters, recognise
from dropline.ingest.formats.perfdhcp_report import conclude
from dropline.ingest.formats.text import MAX_TEXT_BYTES, head_text, is_marked, lines, parts, unpack

if TYPE_CHECKING:
    from dropline.ingest.formats import Reject, Report

NAME = "perfdhcp"

_OF_EXCHANGE: Final = frozenset(
    {"head of the statistics", "counter", "drops ratio", "delay", "no delays", "count of collected packets"}
)
_FAILED: Final = "Failed to receive DHCP packet: "
LINES: Final = re.compile(
    r"(?:\A|[\r\n])[ \t\0]*(?:\^C)?(?:"
    r"Running: perfdhcp|Scenario: (?:basic|avalanche)\.|perfdhcp \[-"
    r"|\*\*\*(?:Rate statistics|Statistics for: [A-Z])"
    r"|(?:ERROR: |Error )(?:running perfdhcp|parsing command line options)"
    r"|sent: \d[\d/]*; received: \d|(?:sent|received|collected) packets: \d"
    r"|VERSION: \d+\.\d+\.\d+\s*\Z)",
    re.ASCII,
)
CLUES: Final = (
    *("Running: perfdhcp", "Scenario: ", "***", "perfdhcp [-", " running perfdhcp", " parsing command line options"),
    *("; received: ", " packets: ", "VERSION: "),
)


def sniff(head: bytes) -> bool:
    """Return whether `head`, the first 64 KiB of a file or all of it, is from perfdhcp."""
    text = head_text(head)
    return is_marked(text, LINES, *CLUES) or any(clean_counters(line) for _, line in islice(_lines(text.encode()), 1))


def parse(data: bytes, line: int = 1) -> Iterator[Report | Reject]:
    """Yield every report, and a reject for every unusable part of `data`, in order; see `text.within`."""
    advice = "split the file between two reports, or leave out -x t and -x l"
    return parts(data, lambda text: _parts(text, line), advice)


def explain(data: bytes, line: int = 1) -> Iterator[tuple[int, str, str]]:
    """Yield (number, text, interpretation) of every line that is not blank, and of text glued to one."""
    text, _ = unpack(data, MAX_TEXT_BYTES)
    for number, said, kind, trial in _walk(text, Process(), line):
        yield number, said, _taken_for(kind, trial)


def _taken_for(line: Line | None, trial: Process) -> str:
    """Describe how the line just added to `trial` was interpreted (None: not at all)."""
    if line is None:
        if trial.error and trial.here == trial.error_line + 1:
            return "goes on with the error"
        return "usage text" if trial.stage is Stage.USAGE else "not understood"
    exchange = trial.exchange() if line.words in _OF_EXCHANGE else None
    return f"{line.words} of {exchange}" if exchange else line.words


def _parts(text: bytes, first: int) -> Iterator[Report | Reject]:
    """Yield the result of each process in a text that begins at line `first`."""
    trial = Process(here=first, line=first)
    for _, _, _, current in _walk(text, trial, first):
        if current is not trial:
            yield conclude(trial)
            trial = current
    yield conclude(trial)


def _walk(text: bytes, trial: Process, first: int = 1) -> Iterator[tuple[int, str, Line | None, Process]]:
    """Yield number and text of every line, its kind (None: not valid there), and the trial it was added to."""
    for number, said in _lines(text, first):
        key, colon, payload = said.partition(": ")
        line = KEYS.get(key) if colon else None
        if line is None:
            line, payload = recognise(said, in_leases=bool(trial.leases))
        if line and line.stage and trial.is_over(line.stage, payload):
            trial = Process(version=trial.next_version)
        trial.here = number
        yield number, said, line if trial.take(line, payload, said) else None, trial


def _lines(text: bytes, first: int = 1) -> Iterator[tuple[int, str]]:
    """Yield (number, line) of all lines that are not blank; glued text is split off."""
    glued = _may_be_glued(text)
    for number, line, ended in lines(text, first):
        if not ended:
            line = _unfinished(line)
        if not glued:
            yield number, line
            continue
        begin = line.find(START, 1)
        if begin > 0:
            yield number, line[:begin]
            line = line[begin:]
        if line.startswith("^C"):
            yield number, "^C"
            line = line.lstrip("^C")
        if line.startswith(_FAILED):
            # stderr is not buffered: a line of stdout may come between parts of this one.
            yield number, line
            line = _behind_failure(line.removeprefix(_FAILED))
        if line:
            yield number, line


def _may_be_glued(text: bytes) -> bool:
    """Return whether text that may get glued to other text appears elsewhere than at the start of a line."""
    start = START.encode()
    begun = text.startswith(start) + text.count(b"\n" + start)
    return text.count(start) > begun or any(mark in text for mark in (b"^C", b"Failed to receive", b"\x1b"))


def _unfinished(line: str) -> str:
    """Return the unterminated last line of a file; invalidate a number that may be truncated."""
    key, _, value = line.partition(": ")
    cut = value[-1:].isdigit() and value != "0"
    return f"{line} (the file ends here)" if cut and key in KEYS else line


def _behind_failure(text: str) -> str:
    """Return the text after a message of stderr on the same line, if it is a line of stdout."""
    _, message, behind = text.partition("is expected.")
    if message:
        return behind
    return text if text.startswith("sent: ") or text.partition(": ")[0] in KEYS else ""
