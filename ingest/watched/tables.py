"""Tables of monitoring in CSV: their rows, each with its line."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.text import LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEPARATOR: Final = "sep="  # a line for spreadsheets, which tells how to read the file


def first_rows(text: str, number: int) -> list[list[str]]:
    """Return at most `number` rows from the begin of a table."""
    begin = "".join(text.splitlines(keepends=True)[: number + 2])
    return [part[1] for part in rows(begin) if not isinstance(part, Reject)][:number]


def rows(text: str) -> Iterator[tuple[int, list[str]] | Reject]:
    """Yield (line, cells) of each row that is not blank; what is no CSV from somewhere on is one reject."""
    head = text[:LONGEST].lstrip().partition("\n")[0]
    delimiter = ";" if ";" in head and "," not in head else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if any(row) and not row[0].startswith(_SEPARATOR):
                yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        yield Reject(reader.line_num, f"not CSV from here on: {error}", "copy the whole file again")
