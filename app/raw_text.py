"""The raw text behind a trial, from the stored bytes: read-only, limited to what a page can show."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow.compute as pc
import pyarrow.parquet as pq

from dropline.ingest import log
from dropline.ingest.formats.text import unpack
from dropline.paths import Home

MOST_LINES: Final = 2000  # on a page
MOST_BYTES: Final = 8 * 1024 * 1024  # of text that is read
_MOST_KEPT_BYTES: Final = 512 * 1024 * 1024  # of files stored together, read into memory at once
_KEY: Final = ("campaign", "source_path", "sha256")


class Part(NamedTuple):
    """Some lines of a text: the lines, the number of the first (from 1), and the number of lines of the whole text."""

    text: str
    first: int
    lines: int


def kept(home: Home, trial: Mapping[str, Any]) -> bytes | None:
    """Return the bytes of a trial's file as ingested, or None if the lake does not hold them (any more).

    `trial` has campaign, source_path, source_sha256 and batch; an earlier batch may hold the bytes.
    """
    key = (trial["campaign"], trial["source_path"], trial["source_sha256"])
    contents = (_content(file, key) for file in _where(home, str(trial["batch"])))
    return next((content for content in contents if content is not None), None)


def part(content: bytes, line: int | None) -> Part:
    """Return the text to show, decompressed and decoded: all, or if it is long the lines from `line` (from 1) on."""
    text, _ = unpack(content, MOST_BYTES)
    lines = text.decode("utf-8", "replace").splitlines()
    first = max(line or 1, 1) if len(lines) > MOST_LINES else 1
    return Part("\n".join(lines[first - 1 : first - 1 + MOST_LINES]), first, len(lines))


def _where(home: Home, batch: str) -> Iterator[Path]:
    """Yield the tables of raw files, the most likely first: this batch's, then those of earlier batches."""
    entries = log.read(home.lake / "log")[::-1]
    for entry in sorted(entries, key=lambda each: (batch not in each.batches, each.batches[0] > batch)):
        if part := entry.files.get("raw_files"):
            yield home.lake / part.path


def _content(file: Path, key: tuple[str, str, str]) -> bytes | None:
    with pq.ParquetFile(file) as table:
        for group in range(table.num_row_groups):
            if not _may_hold(table.metadata.row_group(group), key):
                continue
            rows = table.read_row_group(group, columns=list(_KEY))
            hits = [pc.equal(rows[name], value) for name, value in zip(_KEY, key, strict=True)]
            place = pc.index(pc.and_(pc.and_(hits[0], hits[1]), hits[2]), True).as_py()
            if place >= 0:
                value: bytes | None = table.read_row_group(group, columns=["content"])["content"][place].as_py()
                if value is not None:
                    return value
    return None


def _may_hold(group: pq.RowGroupMetaData, key: tuple[str, str, str]) -> bool:
    columns = {group.column(place).path_in_schema: group.column(place) for place in range(group.num_columns)}
    if columns["content"].total_uncompressed_size > _MOST_KEPT_BYTES:
        return False
    known = [(columns[name].statistics, value) for name, value in zip(_KEY, key, strict=True)]
    return all(each is None or not each.has_min_max or each.min <= value <= each.max for each, value in known)
