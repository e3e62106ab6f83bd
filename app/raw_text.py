"""Raw text behind a trial, from the stored bytes: read-only, limited to what a page can show."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb

from dropline.ingest import log
from dropline.ingest.formats.text import unpack
from dropline.paths import Home

MOST_LINES: Final = 2000  # on a page
MOST_BYTES: Final = 8 * 1024 * 1024  # of text that is read
_KEPT: Final = """
    select content from read_parquet($file, hive_partitioning = false)
    where campaign = $campaign and source_path = $source_path and sha256 = $source_sha256 and content is not null
"""


class Part(NamedTuple):
    """Some lines of a text, the number of the first (from 1), and the total number of lines."""

    text: str
    first: int
    lines: int


def kept(home: Home, trial: Mapping[str, Any]) -> bytes | None:
    """Return the bytes of a trial's file as ingested, or None if the lake does not hold them (any more).

    `trial` has campaign, source_path, source_sha256 and batch; an earlier batch may hold the bytes.
    """
    key = {name: trial[name] for name in ("campaign", "source_path", "source_sha256")}
    with duckdb.connect(config={"threads": "1"}) as database:
        found = (database.execute(_KEPT, key | {"file": str(file)}).fetchone() for file in _where(home, trial["batch"]))
        return next((content for (content,) in filter(None, found)), None)


def part(content: bytes, line: int | None) -> Part:
    """Return the decompressed and decoded text: all of it, or if it is long, the lines from `line` (from 1) on."""
    text, _ = unpack(content, MOST_BYTES)
    lines = text.decode("utf-8", "replace").splitlines()
    first = max(line or 1, 1) if len(lines) > MOST_LINES else 1
    return Part("\n".join(lines[first - 1 : first - 1 + MOST_LINES]), first, len(lines))


def _where(home: Home, batch: str) -> Iterator[Path]:
    """Yield the tables of raw files to search: first that of this batch, then those of other batches."""
    entries = log.read(home.lake / "log")[::-1]
    for entry in sorted(entries, key=lambda each: (batch not in each.batches, each.batches[0] > batch)):
        if part := entry.files.get("raw_files"):
            yield home.lake / part.path
