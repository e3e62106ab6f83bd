"""The raw formats of traffic generators: how each is recognised, and what a reader returns.

A reader is pure: it gets the bytes of one file and yields what it found, in the order of the file.
It never raises for bad input; what it cannot use it yields as a `Reject`, so that every byte stays
accounted for.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from importlib import import_module
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import pyarrow as pa
import pyarrow.compute as pc

from dropline.ingest.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Row = dict[str, Any]

OBSERVED: Final = ("metric", "label", "t_s", "value", "unit")  # what a report tells of `schema.OBSERVATIONS`
Observed = tuple[str, str | None, float | None, float, str]


@dataclass(slots=True)
class Report:
    """One trial as its report tells it.

    Attributes:
        line: where the report begins in the file, from 1.
        facts: columns of `schema.TRIALS` that the text itself gives.
        exchanges: rows of `schema.EXCHANGES` without the keys.
        intervals: rows of `schema.INTERVALS` without the keys.
        observations: rows of `schema.OBSERVATIONS` without the keys.
        warnings: what a person should know about this report, one sentence each.

    """

    line: int
    facts: Row
    exchanges: Records = field(default_factory=Records)
    intervals: Records = field(default_factory=Records)
    observations: Records = field(default_factory=Records)
    warnings: list[str] = field(default_factory=list)


@dataclass(slots=True, frozen=True)
class Reject:
    """A part of a file that gives no trial: where, why, and what to do about it."""

    line: int
    reason: str
    hint: str


class Reader(Protocol):
    """What a format module offers.

    One whose files begin like JSON has `IN_JSON`, too: ASCII texts, one of which is in the head of each of them.
    """

    NAME: str

    def sniff(self, head: bytes) -> bool:
        """Say whether a file is of this format; `head` is its first 64 KiB, or all of it."""

    def parse(self, data: bytes) -> Iterator[Report | Reject]:
        """Yield every report and every unusable part of `data`, in order."""


class TextReader(Reader, Protocol):
    """What a module offers whose format is a text of lines, of which a file may hold several, from several tools.

    Attributes:
        LINES: how lines begin that only this tool prints, or that it shares with few others.
        CLUES: texts, one of which is in each of these lines.

    """

    LINES: re.Pattern[str]
    CLUES: tuple[str, ...]

    def parse(self, data: bytes, line: int = 1) -> Iterator[Report | Reject]:
        """Yield what `Reader.parse` does of a text that begins in `line` of its file."""

    def explain(self, data: bytes, line: int = 1) -> Iterator[tuple[int, str, str]]:
        """Yield (number, text, what it was taken for) of every line that is not blank."""


# The registry: a module of this folder a line. Each file is claimed by one of them at most, so the order decides
# nothing but speed.
_MODULES = (
    "perfdhcp",
    "avalanche",
    "bngblaster",
    "csit",
    "cyberflood",
    "cyberflood_csv",
    "cyberflood_polls",
    "dnsblast",
    "dnsperf",
    "dnspyre",
    "dnstrace",
    "flame",
    "ixload",
    "ixnetwork",
    "kxdpgun",
    "nfvbench",
    "queryperf",
    "resperf",
    "shotgun",
    "testcenter_csv",
    "testcenter_periodic",
    "testcenter_results",
    "testcenter_views",
    "trex",
    "vsperf",
)
READERS: tuple[Reader, ...] = tuple(cast("Reader", import_module(f"{__name__}.{name}")) for name in _MODULES)

_OF_JSON: Final = tuple(reader for reader in READERS if hasattr(reader, "IN_JSON"))
_CLUES: Final = "|".join(re.escape(text) for reader in _OF_JSON for text in reader.IN_JSON) + "|\x1b"  # or coloured
_JSON: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:{|\[\s*[{\]])")


def begins_like_json(head: bytes) -> bool:
    """Say whether a file begins as a JSON object does, or as a list of objects.

    Most of a campaign's files are sidecars: whoever reads no JSON need not be asked about them.
    """
    return _JSON.match(head) is not None


def in_question(heads: Sequence[bytes]) -> list[bool]:
    """Say of the first 64 KiB of each of some files whether a reader may claim it: of sidecars it is soon seen.

    All texts that any reader looks for are looked for at once, which takes a fifth of the time that they take one by
    one.
    """
    begun = [begins_like_json(head) for head in heads]
    of_json = [head for head, like_json in zip(heads, begun, strict=True) if like_json]
    offsets = array("i", accumulate(map(len, of_json), initial=0))
    # Not by pa.array: it imports pandas, which takes each process longer than its heads.
    held = pa.Array.from_buffers(
        pa.binary(), len(of_json), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(of_json))]
    )
    found = iter(pc.match_substring_regex(held, _CLUES).to_pylist())
    return [not like_json or next(found) for like_json in begun]


def recognise(head: bytes) -> Reader | None:
    """Return the reader of a file; `head` is its first 64 KiB, or all of it."""
    asked = _OF_JSON if begins_like_json(head) else READERS
    return next((reader for reader in asked if reader.sniff(head)), None)
