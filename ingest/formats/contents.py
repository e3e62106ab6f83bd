"""Tool outputs within a file: behind prefixes, in JSON, or mixed with other tools', each for its own reader."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple, cast

from dropline.ingest.formats import READERS, Reader, Reject, Report, TextReader, begins_like_json, fields, prefixes
from dropline.ingest.formats.text import (
    HEAD_BYTES,
    MAX_LINES,
    MAX_TEXT_BYTES,
    few_rejects,
    head_text,
    quote,
    uncoloured,
    unpack,
)

OF_TEXT: Final = tuple(cast("TextReader", reader) for reader in READERS if hasattr(reader, "LINES"))

_END: Final = re.compile(r"\r{0,2}\n|\r")
_LINE_END: Final = re.compile(_END.pattern.encode())
_NEAR: Final = 3  # lines: a carriage return may separate the prefix from a report's first line
_MAX_PIECES: Final = 10_000
_ADVICE: Final = "keep the output of each tool in its own file"
_READERS: Final = {reader.NAME: reader for reader in OF_TEXT}
_BULLETS: Final = (b"- ", b"* ", b"+ ")
_HIDING: Final = (b"\x1b", *(b"\n" + bullet for bullet in _BULLETS))  # may precede or interrupt any line
# Strings, one of which is in every text that has, or may hide, lines of another tool.
_FOREIGN: Final = {
    own.NAME: (*_HIDING, *(clue.encode() for other in OF_TEXT if other is not own for clue in other.CLUES))
    for own in OF_TEXT
}


class Piece(NamedTuple):
    """A part of a text: the reader of its lines, the number of its first line, its text, and the text around it."""

    reader: TextReader
    line: int
    text: str
    within: fields.Text = fields.Text(1, "")


def behind(head: bytes) -> Reader[Report] | None:
    """Return the reader for the text behind line prefixes, or in JSON, of a file that no reader claims."""
    text = head_text(head)
    in_json = prefixes.may_be_json(text)
    if not in_json and (begins_like_json(head) or not hinted(text)):
        return None
    return next((_known(each.text) for each in prefixes.unwrapped(text, _known)), None)


def parse(reader: Reader[Report], data: bytes) -> Iterator[Report | Reject]:
    """Yield reports and rejects, in order, of a file for which `recognise` or `behind` returned `reader`."""
    pieces, fault = _pieces(reader, data)
    if not pieces:
        yield from reader.parse(data)
        return

    lines = _LINE_END.split(unpack(data)[0]) if pieces[0].within.text else []

    def read() -> Iterator[Report | Reject]:
        for piece in islice(pieces, _MAX_PIECES):
            for part in piece.reader.parse(piece.text.encode(), piece.line):
                if isinstance(part, Report):
                    part.warnings += piece.within.notes
                    before = map(prefixes.printed_at, reversed(lines[max(part.line - _NEAR, 0) : part.line]))
                    part.within = piece.within._replace(printed_at=next(filter(None, before), None))
                yield part
        for piece in pieces[_MAX_PIECES : _MAX_PIECES + 1]:
            reason = f"outputs of several tools change {_MAX_PIECES} times above: from here on the file is not read"
            yield Reject(piece.line, reason, _ADVICE)

    yield from few_rejects(read(), _ADVICE)
    if fault:
        yield fault


def explain(reader: Reader[Report], data: bytes) -> Iterator[tuple[int, str, str]]:
    """Yield (number, text, interpretation) of every line that is not blank, if the reader can explain."""
    pieces = _pieces(reader, data)[0]
    for piece in pieces:
        yield from piece.reader.explain(piece.text.encode(), piece.line)
    if not pieces and hasattr(reader, "explain"):
        yield from reader.explain(data)


def _pieces(reader: Reader[Report], data: bytes) -> tuple[list[Piece], Reject | None]:
    """Return the parts to parse separately (none if `reader` parses the whole file) and any decompression error."""
    if not (own := _READERS.get(reader.NAME)):
        return [], None
    plain = reader.sniff(data[:HEAD_BYTES])
    content, fault = unpack(data)
    # There are no bullets and no lines of other tools.
    is_of_one = plain and not content.startswith(_BULLETS) and not any(map(content.__contains__, _FOREIGN[own.NAME]))
    if is_of_one or len(content) > MAX_TEXT_BYTES or content.count(b"\n") > MAX_LINES:
        return [], None
    text = uncoloured(content.decode("utf-8", "replace"))
    likely = [own, *(each for each in hinted(text) if each is not own)]
    if plain:
        bare = prefixes.without_bullets(text, lambda line: any(each.LINES.match(line) for each in likely))
        pieces = cut(bare, likely)
        return (pieces if len(pieces) > 1 or len(bare) < len(text) else []), fault
    found = ((each, cut(each.text, hinted(each.text), each.line)) for each in prefixes.unwrapped(text, _known))
    return [piece._replace(within=each) for each, pieces in found for piece in pieces], fault


def _known(text: str) -> TextReader | None:
    head = text.encode()
    likely = (reader for reader in hinted(text) if reader.LINES.search(text))
    return next((reader for reader in likely if reader.sniff(head)), None)


def hinted(text: str) -> list[TextReader]:
    """Return the readers with a clue in `text`; only these can have lines in it."""
    return [reader for reader in OF_TEXT if any(clue in text for clue in reader.CLUES)]


def cut(text: str, readers: Iterable[TextReader], line: int = 1) -> list[Piece]:
    """Split a text that begins at `line` into a piece per change of tool; none if it has no lines of tools."""
    by_name = {reader.NAME: reader for reader in readers}
    begins: list[tuple[int, set[str]]] = []
    doubtful: list[tuple[int, set[str]]] = []  # ambiguous lines since the last unambiguous one
    claims = defaultdict[int, set[str]](set)  # the lines that tools print
    for reader in by_name.values():
        for match in reader.LINES.finditer(text):
            claims[match.start() + (match[0][:1] in {"\r", "\n"})].add(reader.NAME)
    # A line that two tools print belongs to the tool of the lines before if possible, else to the next one.
    for place, owners in sorted(claims.items()):
        before = begins[-1][1] if begins else owners
        if not begins:
            begins.append((0, owners))
        elif before & owners:
            begins[-1] = begins[-1][0], before & owners
        else:
            begins.append((next((at for at, others in doubtful if others >= owners), place), owners))
            doubtful = []
        if len(owners) > 1:
            doubtful.append((place, owners))
        else:
            doubtful = []
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
    """Return a phrase on the first line of a tool in `text` that has other text before it, if any."""
    for number, line in enumerate(text.splitlines(), 1):
        for reader in OF_TEXT:
            for clue in reader.CLUES:
                place = line.find(clue)
                if place > 0 and reader.LINES.match(line[place:]):
                    return f"line {number} has output of {reader.NAME}, but not at its start: {quote(line.strip())}"
    return None
