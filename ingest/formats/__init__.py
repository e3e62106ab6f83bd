"""Raw formats of traffic generators: how each is recognised, and the results of its reader.

A reader is a pure function of the bytes of one file, and yields its results in file order. For bad input it does not
raise, but yields a `Reject` for each unusable part, so that every byte is accounted for.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc

from dropline.ingest.formats.fields import Text

Row = dict[str, Any]
Result = TypeVar("Result", covariant=True)
EMPTY: Final = "the file is empty"  # the reason of a reject


class Observation(NamedTuple):
    """A row of `schema.OBSERVATIONS` without the keys."""

    metric: str
    label: str | None
    t_s: float | None
    value: float
    unit: str


@dataclass(slots=True)
class Report:
    """A trial as reported by the tool."""

    line: int  # first line of the report in the file, from 1
    facts: Row  # columns of `schema.TRIALS` from the text itself
    exchanges: list[Row] = field(default_factory=list)  # rows of `schema.EXCHANGES` without the keys
    # Columns of `schema.INTERVALS` without the keys; there may be very many rows.
    intervals: dict[str, Sequence[Any]] = field(default_factory=dict)
    observations: list[Observation] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)  # notes for the user, one sentence each
    within: Text = field(default=Text(1, ""), compare=False, repr=False)  # its text behind prefixes or in JSON


@dataclass(slots=True, frozen=True)
class Reject:
    """An unusable part of a file: where, why, and what to do."""

    line: int
    reason: str
    hint: str


class Rejected(Exception):
    """A file that is rejected as a whole."""

    def __init__(self, reason: str, hint: str, line: int = 1) -> None:
        super().__init__(reason)
        self.reject = Reject(line, reason, hint)


Parts = Iterator[Report | Reject]
Sniff = Callable[[bytes], bool]
Parse = Callable[[bytes], Parts]


class Reader(Protocol[Result]):
    """Interface of a module for a format or for telemetry.

    If its files begin like JSON, it also has `IN_JSON`: ASCII strings, at least one of which is in every file's head.
    """

    NAME: str

    def sniff(self, head: bytes) -> bool:
        """Return whether a file is of this format; `head` is its first 64 KiB, or all of it."""

    def parse(self, data: bytes) -> Iterator[Result | Reject]:
        """Yield every result and a reject for every unusable part of `data`, in order."""


class TextReader(Reader[Report], Protocol):
    """Interface of a module for a line-based text format; one file may hold output of several tools."""

    LINES: re.Pattern[str]  # pattern of beginnings of lines that only this tool, or few others, print
    CLUES: tuple[str, ...]  # strings, at least one of which is in each such line

    def parse(self, data: bytes, line: int = 1) -> Parts:
        """Like `Reader.parse`, for a text that begins at `line` of its file."""

    def explain(self, data: bytes, line: int = 1) -> Iterator[tuple[int, str, str]]:
        """Yield (number, text, interpretation) of every line that is not blank."""


# The registry: the modules of this folder. At most one of them claims a file, so the order matters only for speed.
_MODULES = (
    *("perfdhcp", "dnsperf"),
    *("avalanche", "bngblaster", "csit", "cyberflood", "cyberflood_csv", "cyberflood_polls", "dnsblast", "dnspyre"),
    *("dnstrace", "flame", "ixload", "ixnetwork", "kxdpgun", "nfvbench", "queryperf", "resperf", "shotgun"),
    *("testcenter_csv", "testcenter_periodic", "testcenter_results", "testcenter_views", "trex", "vsperf"),
)
READERS: tuple[Reader[Report], ...] = tuple(
    cast("Reader[Report]", import_module(f"{__name__}.{name}")) for name in _MODULES
)

_JSON: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:{|\[\s*[{\]])")


def begins_like_json(head: bytes) -> bool:
    """Return whether a file begins like a JSON object or a list of objects, as most files, being sidecars, do."""
    return _JSON.match(head) is not None


def in_question(heads: Sequence[bytes], clues: str) -> list[bool]:
    """Return for each head whether a reader may claim the file, by an RE2 pattern that quickly excludes sidecars."""
    begun = [begins_like_json(head) for head in heads]
    of_json = pa.array([head for head, like_json in zip(heads, begun, strict=True) if like_json], pa.binary())
    found = iter(pc.match_substring_regex(of_json, f"{clues}|\x1b").to_pylist())  # or coloured
    return [not like_json or next(found) for like_json in begun]


def recognise(head: bytes, readers: Iterable[Reader[Any]] = ()) -> Reader[Any] | None:
    """Return the reader of a file, of `readers` or by default READERS; `head` is its first 64 KiB, or all of it."""
    asked, like_json = readers or READERS, begins_like_json(head)
    return next((each for each in asked if (not like_json or hasattr(each, "IN_JSON")) and each.sniff(head)), None)
