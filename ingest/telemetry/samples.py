"""Helpers for all telemetry readers: limits, lines, documents, tables."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.text import (
    LONGEST,
    MAX_TEXT_BYTES,
    few_rejects,
    lines,
    quote,
    within,
    without_runs_of_rejects,
)
from dropline.ingest.telemetry import Found, Sample

Read = Callable[[bytes], Found]
ReadLine = Callable[[str], Iterable[Sample] | None]

MAX_SAMPLES: Final = 2_000_000

_SPLIT: Final = "split the file by time, or sample less often"
_WHOLE: Final = "copy the whole file again; all before it is kept"


def accounted(read: Read, expected: str) -> Read:
    """Return a reader's `parse`: at most MAX_SAMPLES results of `read` for a text with any number of lines.

    Consecutive rejects become one; a text without samples is a reject, too.
    """

    def parse(data: bytes) -> Found:
        found = within(data, read, _SPLIT, MAX_TEXT_BYTES, math.inf)
        samples = 0
        for part in few_rejects(without_runs_of_rejects(found, expected), _SPLIT):
            samples += not isinstance(part, Reject)
            if samples > MAX_SAMPLES:
                yield Reject(1, f"more than {MAX_SAMPLES} values: the rest is left out", _SPLIT)
                return
            yield part

    return parse


def each_line(text: bytes, read: ReadLine, expected: str) -> Found:
    """Yield the samples of every complete line; `read` returns None for an unusable line."""
    for number, line, ended in lines(text):
        found = read(line) if ended else None
        if found is not None:
            yield from found
        elif ended:
            yield Reject(number, f"not understood: {quote(line)}", expected)
        else:
            yield Reject(number, f"the last line is cut off: {quote(line)}", _WHOLE)


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
            if any(row):
                yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        yield Reject(reader.line_num, f"not CSV from here on: {error}", "copy the whole file again")
