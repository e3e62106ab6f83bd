"""The kinds of machine facts: how each is recognised, its parser, and the command that collects it.

Content takes precedence over name: a name decides only for ambiguous content, such as one word in `hostname.txt`, or an
empty file.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from dropline.ingest.machines.facts import Facts

    Parser = Callable[[bytes], Facts]  # may raise FactError

MESSAGES: Final = "messages"  # a command's stderr
_HEAD_BYTES: Final = 65_536
_NAMED: Final = b"NAME="  # in every os-release; a cheap pre-check for the slow line-by-line pattern


class Source(NamedTuple):
    """One kind of file with machine facts."""

    kind: str
    content: bytes | None  # pattern of its beginning, without BOM and blank space
    name: re.Pattern[str]  # of its file name, without extension
    command: str
    parse: Parser | None  # None: stored unparsed, for people to read


SOURCES: Final[dict[str, Source]] = {}


def add(kind: str, content: bytes | None, name: str, command: str, parse: Parser | None = None) -> None:
    """Register a kind of file; of several that recognise a file the first one counts."""
    SOURCES[kind] = Source(kind, content, re.compile(name, re.IGNORECASE), command, parse)


def source(kind: str, content: bytes | None, name: str, command: str) -> Callable[[Parser], Parser]:
    """Register the decorated parser."""

    def decorated(parse: Parser) -> Parser:
        add(kind, content, name, command, parse)
        return parse

    return decorated


@cache
def _contents(*left_out: str) -> re.Pattern[bytes]:
    """Return one pattern for all contents; its last group is the kind of the first matching source."""
    contents = ((each.kind, each.content) for each in SOURCES.values() if each.content and each.kind not in left_out)
    return re.compile(b"|".join(b"(?P<%b>%b)" % (kind.encode(), content) for kind, content in contents), re.MULTILINE)


def stem(name: str) -> str:
    """Return the name of a file without folders and extension: `ip-link` of `a/ip-link.json`."""
    return re.sub(r"\.(?:txt|json|out|log)$", "", re.split(r"[/\\]", name)[-1], flags=re.IGNORECASE)


def recognise(name: str, data: bytes) -> str | None:
    """Return the kind of machine facts in a file, by its content, else by its name.

    `data` is the whole file or its beginning. Names decide for content that any file could have: call this for files of
    a folder of machine facts, or trust only kinds that are unambiguous.
    """
    if name.endswith(".err"):
        return MESSAGES if _by_name(name.removesuffix(".err")) else None
    head = data[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip()
    found = (_contents() if _NAMED in head else _contents("os_release")).match(head)
    return found.lastgroup if found else _by_name(name)


@lru_cache(maxsize=4096)  # the repetitions of a ramp have the same names
def _by_name(name: str) -> str | None:
    own = stem(name)
    return next((each.kind for each in SOURCES.values() if each.name.fullmatch(own)), None)
