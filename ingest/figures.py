"""Table of figures from published documents, as CSV or Parquet.

One row is one figure as printed in a source; the columns are those of schema.FIGURES, in any order.
docs/how-to/bring-your-own-figures.md describes them. CSV may be UTF-8 or UTF-16, with or without a byte order mark,
separated by commas, semicolons or tabs (RFC 4180 and the variants that spreadsheets write).
"""

import csv
import difflib
import hashlib
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from dropline import beside
from dropline.ingest.formats import Reject, Rejected, Row
from dropline.ingest.formats.text import few_rejects, head_text, real, within
from dropline.ingest.schema import CONFIGURATION, FIGURES
from dropline.ingest.synonyms import normalise

Record = tuple[int, dict[str, str]]  # line, column -> non-blank text

NAME: Final = "figures"
COLUMNS: Final = tuple(
    name for name in FIGURES.names if name not in {"batch", "campaign", "source_path", "source_sha256", "line"}
)
REQUIRED: Final = ("location", "metric", "value", "unit")  # and source_id or source_title
_SAID: Final[dict[str, dict[str, list[str]]]] = beside.words(__file__)
UNITS: Final = _SAID["units"]
WORDS: Final = _SAID["words"]

_SOURCE: Final = ("source_id", "source_title")
_PARQUET: Final = b"PAR1"
_DELIMITERS: Final = ",;\t"
_KINDS: Final = {field.name: field.type for field in FIGURES}
_NORMALISED: Final = frozenset(name for name, _ in CONFIGURATION)
_WHOLE: Final = re.compile(r"([0-9]{1,9})(?:\.0*)?")
_URL: Final = re.compile(r"https?://\S+")
_LONGEST: Final = 2000  # characters of a text
_MAX_BYTES: Final = 64 * 1024 * 1024  # of text
_MAX_ROWS: Final = 1_000_000
_SPLIT: Final = "split it into several files"
_FORM: Final = "docs/how-to/bring-your-own-figures.md describes the format"
_CORRECT: Final = f"correct the row; {_FORM}"


def recognise(head: bytes) -> bool:
    """Return whether a file is a table of figures; `head` is its first 64 KiB, or all of it."""
    if head.startswith(_PARQUET):  # its column names are at the end of the file
        return True
    names = set(_header(head_text(head))[0])
    return {"metric", "value"} <= names and not names.isdisjoint(_SOURCE)


def parse(data: bytes) -> Iterator[Row | Reject]:
    """Yield every figure and every reject, in order.

    A figure is a row of schema.FIGURES without the columns that only the caller knows (batch, campaign, source_path,
    source_sha256). `line` counts text lines from 1; for Parquet it is the row number. By default, `figure_id` is a
    digest of the row, and `source_id` is derived from the title. Configuration words are normalised to the warehouse's
    vocabulary. The whole file is rejected if its header has an unknown column or lacks a required one.
    """
    found = few_rejects(_figures(data), "repair the table where the first of them are, and ingest it again")
    yield next(found, Reject(1, "the header of a table of figures without rows", "add a row for each figure"))
    yield from found


def _figures(data: bytes) -> Iterator[Row | Reject]:
    lines: dict[str, int] = {}
    found = _parquet(data) if data.startswith(_PARQUET) else within(data, _csv, _SPLIT, _MAX_BYTES)
    for part in found:
        if isinstance(part, Reject):
            yield part
            continue
        line, cells = part
        try:
            figure = _figure(cells)
        except Rejected as error:
            yield replace(error.reject, line=line)
            continue
        first = lines.setdefault(figure["figure_id"], line)
        if first == line:
            yield {**figure, "line": line}
        else:
            reason = f"the figure of line {first} again: figure_id {figure['figure_id']!r:.80}"
            yield Reject(line, reason, "remove it, or give each figure its own figure_id")


def _csv(data: bytes) -> Iterator[Record | Reject]:
    """Yield the rows below the header; repeated headers, as in appended files, are skipped."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        reason = f"expected UTF-8, found the byte 0x{data[error.start]:02x}"
        yield Reject(data.count(b"\n", 0, error.start) + 1, reason, "save the table as CSV in UTF-8")
        return
    header, delimiter = _header(text)
    if faults := _header_faults(header):
        yield from faults
        return
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(map(_clean, cells)) and _names(cells) != header:
                yield _record(header, cells, line)
            line = reader.line_num + 1
    except csv.Error as error:
        reason = f"not CSV from here to the end of the file: {error}"
        yield Reject(line, reason, 'put text with the separator or quotes in it into "quotes", quotes doubled')


def _record(header: Sequence[str], cells: Sequence[str], line: int) -> Record | Reject:
    if len(cells) < len(header) or any(map(_clean, cells[len(header) :])):
        reason = f"expected {len(header)} values as in the header, found {len(cells)}"
        return Reject(line, reason, 'put values that contain the separator into "quotes"')
    return line, {name: text for name, cell in zip(header, cells, strict=False) if (text := _clean(cell))}


def _parquet(data: bytes) -> Iterator[Record | Reject]:
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        groups = (file.metadata.row_group(group) for group in range(file.num_row_groups))
        if file.metadata.num_rows > _MAX_ROWS or sum(group.total_byte_size for group in groups) > _MAX_BYTES:
            yield Reject(1, f"more than {_MAX_ROWS} rows or {_MAX_BYTES // 1024**2} MiB", _SPLIT)
            return
        table = file.read()
        columns = [column.cast(pa.string()).to_pylist() for column in table.columns]
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = f"not readable as Parquet with one value in each cell: {' '.join(str(error).split()):.200}"
        yield Reject(1, reason, "write the table again, with text and numbers only")
        return
    header = _names(table.column_names)
    yield from (faults := _header_faults(header))
    for number, cells in enumerate(zip(*columns, strict=True) if not faults else (), 1):
        yield _record(header, [cell or "" for cell in cells], number)


def _header(text: str) -> tuple[list[str], str]:
    """Return the column names in the first line of a CSV text, and the separator with which most of them are ours."""
    lines = (line for line in io.StringIO(text, newline="") if line.strip("\ufeff \t\r\n,;"))
    first = next(lines, "")
    found: list[tuple[list[str], str]] = [([], _DELIMITERS[0])]
    for delimiter in _DELIMITERS:
        with suppress(csv.Error):
            found.append((_names(next(csv.reader([first], delimiter=delimiter), [])), delimiter))
    return max(found, key=lambda each: len(set(COLUMNS).intersection(each[0])))


def _names(cells: Sequence[str]) -> list[str]:
    """Return normalised column names: in lower case, with `_` for blanks, without trailing unnamed columns."""
    names = ["_".join(_clean(cell).lower().split()) for cell in cells]
    while names and not names[-1]:
        names.pop()
    return names


def _clean(cell: str) -> str:
    return " ".join(cell.replace("\ufeff", "").split())


def _header_faults(header: Sequence[str]) -> list[Reject]:
    faults = []
    for name in dict.fromkeys(header):
        if name not in COLUMNS:
            near = difflib.get_close_matches(name, COLUMNS, n=1)
            advice = f"did you mean {near[0]!r}? Otherwise" if near else "rename it, or"
            faults.append(Reject(1, f"there is no column {name!r:.80}", f"{advice} remove it; {_FORM}"))
        elif header.count(name) > 1:
            faults.append(Reject(1, f"the column {name!r} appears twice", "keep one of them"))
    missing = [name for name in REQUIRED if name not in header]
    if not set(_SOURCE).intersection(header):
        missing.insert(0, "source_id (or source_title)")
    if missing:
        faults.append(Reject(1, f"also expected the columns {', '.join(missing)}", f"add them; {_FORM}"))
    return faults


def _figure(cells: dict[str, str]) -> Row:
    """Return cells as a row; raise Rejected if they are invalid."""
    row: Row = {}
    for column, text in cells.items():
        for name, value in _values(column, text).items():
            if name == column or name not in cells:
                row[name] = value
    title = cells.get("source_title", "").lower()
    row.setdefault("source_id", re.sub(r"[^a-z0-9]+", "-", title)[:100].strip("-"))
    if missing := [name for name in ("source_id", *REQUIRED) if row.get(name) in (None, "")]:
        raise Rejected(f"expected a value of {', '.join(missing)}, found none", _CORRECT)
    units = UNITS.get(row["metric"], [row["unit"]])
    if row["unit"] not in units:
        message = f"unit: expected {' or '.join(units)} for {row['metric']}, found {row['unit']!r:.80}"
        raise Rejected(message, f"convert the value to {units[0]}, or choose another metric")
    if row["metric"] in UNITS and row["value"] <= 0:
        raise Rejected(f"value: expected {row['metric']} above 0, found {row['value']:g}", _CORRECT)
    if row.get("discard_lowest", 0) + row.get("discard_highest", 0) >= row.get("repetitions", math.inf):
        raise Rejected("discard_lowest and discard_highest together must be fewer than repetitions", _CORRECT)
    digest = hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()[:16]
    return {"figure_id": digest, **row}


def _values(column: str, text: str) -> Row:
    """Parse the text of one cell: usually `{column: value}`."""
    if len(text) > _LONGEST:
        raise Rejected(f"{column}: expected at most {_LONGEST} characters, found {len(text)}", _CORRECT)
    parsed: Row = {column: text}
    if column in _NORMALISED:
        try:
            parsed = dict(normalise(column, text))
        except ValueError as error:
            if column != "protocol":  # a published document may cover any protocol
                raise Rejected(str(error), _CORRECT) from None
    elif pa.types.is_integer(_KINDS[column]):
        if not (whole := _WHOLE.fullmatch(text)):
            raise Rejected(f"{column}: expected a whole number, found {text!r:.80}", _CORRECT)
        parsed = {column: int(whole[1])}
    elif pa.types.is_floating(_KINDS[column]):
        parsed = {column: _number(column, text)}
    if column in WORDS and str(parsed[column]) not in WORDS[column]:
        raise Rejected(f"{column}: expected one of {', '.join(WORDS[column])}, found {text!r:.80}", _CORRECT)
    if column == "source_url" and not _URL.fullmatch(text):
        raise Rejected(
            f"source_url: expected an address that begins with https:// or http://, found {text!r:.80}", _CORRECT
        )
    return parsed


def _number(column: str, text: str) -> float:
    if (value := real(text)) is None:
        message = f"{column}: expected a number, found {text!r:.80}"
        raise Rejected(message, "write it as 1234.5: a point before the fraction, nothing between thousands, no unit")
    if column != "value" and value < 0:
        raise Rejected(f"{column}: expected a number of 0 or more, found {text!r:.80}", _CORRECT)
    if column == "loss_limit_ratio" and value > 1:
        message = f"loss_limit_ratio: expected a ratio from 0 to 1, found {text!r:.80}"
        raise Rejected(message, "write 2.5 % as 0.025")
    return value
