"""Texts that hold the outputs of several tools: cut where another tool's lines begin, each piece for its own reader.

Readers of text say by `LINES` how lines begin that only their tool prints, or that it shares with few others, and by
`CLUES` texts of which each of these lines holds one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from dropline.ingest.formats import READERS
from dropline.ingest.formats.text import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dropline.ingest.formats import TextReader

OF_TEXT: Final = tuple(cast("TextReader", reader) for reader in READERS if hasattr(reader, "LINES"))

_END: Final = re.compile(r"\r{0,2}\n|\r")


class Piece(NamedTuple):
    """A part of a text: the reader whose lines are in it, the number of its first line, and the text itself."""

    reader: TextReader
    line: int
    text: str


class _Claim(NamedTuple):
    """A place where a line begins that is of one of some tools, named by their readers."""

    place: int
    owners: frozenset[str]


def hinted(text: str) -> list[TextReader]:
    """Return the readers of which `text` holds a clue; of no other it holds a line."""
    return [reader for reader in OF_TEXT if any(clue in text for clue in reader.CLUES)]


def cut(text: str, readers: Iterable[TextReader], line: int = 1) -> list[Piece]:
    """Return the pieces of a text that begins in `line`, one for each change of the tool; none without such a line.

    A line that two tools print alike is of the tool before it if it can be, else it goes with what follows it.
    """
    by_name = {reader.NAME: reader for reader in readers}
    begins: list[tuple[int, frozenset[str]]] = []
    doubtful: list[_Claim] = []  # the last ones, behind whatever only one tool prints
    for claim in _claims(text, by_name.values()):
        before = begins[-1][1] if begins else claim.owners
        if not begins:
            begins.append((0, claim.owners))
        elif before & claim.owners:
            begins[-1] = begins[-1][0], before & claim.owners
        else:
            alike = [each for each in doubtful if each.owners >= claim.owners]
            begins.append(((alike or [claim])[0].place, claim.owners))
            doubtful = []
        doubtful = [] if len(claim.owners) == 1 else [*doubtful, claim]
    if not begins:
        return []
    ends = [*(place for place, _ in begins[1:]), len(text)]
    pieces = []
    for (begin, names), end in zip(begins, ends, strict=True):
        owner = next(reader for name, reader in by_name.items() if name in names)
        pieces.append(Piece(owner, line, text[begin:end]))
        line += len(_END.findall(text, begin, end))
    return pieces


def mentioned(text: str) -> str | None:
    """Return in words which tool prints a line like the first one of `text` that anything else stands before."""
    for number, line in enumerate(text.splitlines(), 1):
        for reader in OF_TEXT:
            for clue in reader.CLUES:
                place = line.find(clue)
                if place > 0 and reader.LINES.match(line[place:]):
                    return f"line {number} holds what {reader.NAME} prints, but not at its begin: {quote(line.strip())}"
    return None


def _claims(text: str, readers: Iterable[TextReader]) -> Iterator[_Claim]:
    found: dict[int, set[str]] = {}
    for reader in readers:
        for match in reader.LINES.finditer(text):
            place = match.start() + (match[0][:1] in {"\r", "\n"})
            found.setdefault(place, set()).add(reader.NAME)
    for place in sorted(found):
        yield _Claim(place, frozenset(found[place]))
