"""What is in a file, whatever people have put around it: prefixes, and the outputs of several tools."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats import Reject, Report, begins_like_json, prefixes
from dropline.ingest.formats.mixed import OF_TEXT, Piece, cut, hinted
from dropline.ingest.formats.text import (
    HEAD_BYTES,
    MAX_LINES,
    MAX_TEXT_BYTES,
    few_rejects,
    head_text,
    uncoloured,
    unpack,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Reader, TextReader

_MAX_PIECES: Final = 10_000
_ADVICE: Final = "keep the output of each tool in a file of its own"
_READERS: Final = {reader.NAME: reader for reader in OF_TEXT}
_BULLETS: Final = (b"- ", b"* ", b"+ ")
_HIDING: Final = (b"\x1b", *(b"\n" + bullet for bullet in _BULLETS))  # what may stand before or within any line
_CLUES: Final = {reader.NAME: tuple(clue.encode() for clue in reader.CLUES) for reader in OF_TEXT}


def behind(head: bytes) -> Reader | None:
    """Return the reader of what stands behind the prefix of each line, or in JSON, of a file that no reader claims."""
    text = head_text(head)
    in_json = prefixes.may_be_json(text)
    if not in_json and (begins_like_json(head) or not hinted(text)):
        return None
    return next((_known(each.text) for each in prefixes.unwrapped(text, _is_known)), None)


def parse(reader: Reader, data: bytes) -> Iterator[Report | Reject]:
    """Yield every report and every unusable part of a file that `recognise` or `behind` gave to `reader`, in order."""
    pieces, notes, fault = _pieces(reader, data)
    if not pieces:
        yield from reader.parse(data)
        return
    yield from few_rejects(_read(pieces, notes), _ADVICE)
    if fault:
        yield fault


def explain(reader: Reader, data: bytes) -> Iterator[tuple[int, str, str]]:
    """Yield (number, text, what it was taken for) of every line that is not blank, where the reader can tell."""
    pieces = _pieces(reader, data)[0]
    for piece in pieces:
        yield from piece.reader.explain(piece.text.encode(), piece.line)
    if not pieces and hasattr(reader, "explain"):
        yield from reader.explain(data)


def _pieces(reader: Reader, data: bytes) -> tuple[list[Piece], dict[int, tuple[str, ...]], Reject | None]:
    """Return the parts of a file that are to be read apart, notes on them, and what is wrong with the gzip around it.

    There are none where `reader` is to read it all.
    """
    if not (own := _READERS.get(reader.NAME)):
        return [], {}, None
    plain = reader.sniff(data[:HEAD_BYTES])
    content, fault = unpack(data, MAX_TEXT_BYTES + 1)
    if len(content) > MAX_TEXT_BYTES or content.count(b"\n") > MAX_LINES or (plain and _is_of_one(content, own)):
        return [], {}, None
    text = uncoloured(content.decode("utf-8", "replace"))
    likely = [own, *(each for each in hinted(text) if each is not own)]
    if plain:
        bare = prefixes.without_bullets(text, lambda line: any(each.LINES.match(line) for each in likely))
        pieces = cut(bare, likely)
        return (pieces if len(pieces) > 1 or len(bare) < len(text) else []), {}, fault
    pieces, notes = [], {}
    for each in prefixes.unwrapped(text, _is_known):
        for piece in cut(each.text, hinted(each.text), each.line):
            notes[len(pieces)] = each.notes
            pieces.append(piece)
    return pieces, notes, fault


def _read(pieces: list[Piece], notes: dict[int, tuple[str, ...]]) -> Iterator[Report | Reject]:
    for number, piece in enumerate(islice(pieces, _MAX_PIECES)):
        for part in piece.reader.parse(piece.text.encode(), piece.line):
            if isinstance(part, Report):
                part.warnings += notes.get(number, ())
            yield part
    if len(pieces) > _MAX_PIECES:
        reason = f"outputs of several tools change {_MAX_PIECES} times above: from here on the file is not read"
        yield Reject(pieces[_MAX_PIECES].line, reason, _ADVICE)


def _is_of_one(content: bytes, reader: TextReader) -> bool:
    """Say whether no other tool's lines are in it and no bullets, as far as that is soon seen."""
    clues = (clue for name, clues in _CLUES.items() if name != reader.NAME for clue in clues)
    return not content.startswith(_BULLETS) and not any(clue in content for clue in (*_HIDING, *clues))


def _known(text: str) -> TextReader | None:
    head = text.encode()
    likely = (reader for reader in hinted(text) if reader.LINES.search(text))
    return next((reader for reader in likely if reader.sniff(head)), None)


def _is_known(text: str) -> bool:
    return _known(text) is not None
