"""Shared helpers of the telemetry readers: limits, lines, tables."""

from __future__ import annotations

import csv
import io
from itertools import chain
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.text import LONGEST, MAX_TEXT_BYTES, lines, quote, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dropline.ingest.telemetry import Sample

MAX_REJECTS: Final = 20  # listed singly; the others are only counted
MAX_SAMPLES: Final = 2_000_000

_SPLIT: Final = "split the file by time, or sample less often"
_WHOLE: Final = "copy the whole file again; all before it is kept"
_SEPARATOR: Final = "sep="  # a line that tells spreadsheets the separator


def account(
    data: bytes, read: Callable[[bytes], Iterator[Sample | Reject]], expected: str
) -> Iterator[Sample | Reject]:
    """Yield the results of `read` for the text of `data`: UTF-8 or UTF-16, perhaps gzipped.

    A text without samples is one reject. Rejects beyond MAX_REJECTS are counted in one; a text that exceeds MAX_SAMPLES
    or MAX_TEXT_BYTES is one reject, too.
    """
    text, fault = unpack(data, MAX_TEXT_BYTES + 1)
    if len(text) > MAX_TEXT_BYTES:
        yield Reject(1, f"more than {MAX_TEXT_BYTES // 1024**2} MiB of text", _SPLIT)
        return
    samples = rejects = 0
    waiting: list[Reject] = []  # held until the first sample: without any, the file is one reject
    last = None
    for part in chain(read(text), [fault] if fault else []):
        if isinstance(part, Reject):
            rejects, last = rejects + 1, part
            if rejects <= MAX_REJECTS:
                waiting.append(part)
            elif rejects == MAX_SAMPLES:
                break  # this is not such a file
        elif samples == MAX_SAMPLES:
            waiting.append(Reject(1, f"more than {MAX_SAMPLES} values: the rest is left out", _SPLIT))
            break
        else:
            samples += 1
            yield from waiting
            waiting.clear()
            yield part
    if not samples:
        yield _only(waiting, rejects, expected)
        return
    yield from waiting
    if last and rejects > MAX_REJECTS:
        reason = f"{rejects - MAX_REJECTS} more parts are unusable, the last one: {last.reason}"
        yield Reject(last.line, reason, last.hint)


def _only(waiting: list[Reject], rejects: int, expected: str) -> Reject:
    """Return the single reject of a text without samples."""
    if not waiting:
        return Reject(1, "there is no value in it", expected)
    first = waiting[0]
    more = f"; {rejects - 1} more parts are unusable, and none is usable" if rejects > 1 else ""
    return Reject(first.line, first.reason + more, first.hint)


def each_line(text: bytes, read: Callable[[str], Iterable[Sample] | None], expected: str) -> Iterator[Sample | Reject]:
    """Yield the samples of every line; `read` returns None for an unusable line.

    An unterminated last line is rejected: its numbers may be truncated.
    """
    for number, line, ended in lines(text):
        found = read(line) if ended else None
        if found is not None:
            yield from found
        elif ended:
            yield Reject(number, f"not understood: {quote(line)}", expected)
        else:
            yield Reject(number, f"the last line is cut off: {quote(line)}", _WHOLE)


def words(value: object) -> str | None:
    """Return a text that the lake can store: JSON can contain lone surrogates, UTF-8 cannot."""
    return value.encode("utf-8", "replace").decode() or None if isinstance(value, str) else None


def first_rows(text: str, number: int) -> list[list[str]]:
    """Return at most `number` rows from the start of a table."""
    begin = "".join(text.splitlines(keepends=True)[: number + 2])
    return [part[1] for part in rows(begin) if not isinstance(part, Reject)][:number]


def rows(text: str) -> Iterator[tuple[int, list[str]] | Reject]:
    """Yield (line, cells) of each non-blank row; everything after invalid CSV is one reject."""
    head = text[:LONGEST].lstrip().partition("\n")[0]
    delimiter = ";" if ";" in head and "," not in head else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if any(row) and not row[0].startswith(_SEPARATOR):
                yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        yield Reject(reader.line_num, f"not CSV from here on: {error}", "copy the whole file again")
