"""What the tests ask of a lake, and do to it, that nobody else does."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from dropline.ingest.log import Part
from dropline.ingest.parquet import sha256_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pyarrow as pa

    from dropline.ingest.lake import Lake


def leftovers(lake: Lake) -> set[str]:
    """Return the folders that no entry of the log in force names."""
    return {path.name for path in (lake.root / "files").iterdir()} - {entry.folder for entry in lake.entries()}


def put(lake: Lake, *, reread: bool = False, **tables: pa.Table) -> str | None:
    """Commit rows of some tables as one batch."""
    with lake.batch(reread=reread) as batch:
        for name, found in tables.items():
            batch.add(name, found)
        return batch.commit()


def rows(lake: Lake, table: str, *columns: str, **where: Any) -> list[dict[str, Any]]:
    """Return the rows of a table in which columns have the given values, of all versions."""
    found = lake.tables(table, columns or None).to_pylist()
    return [row for row in found if all(row[name] == value for name, value in where.items())]


def rewritten(lake: Lake, table: str, change: Callable[[pa.Table], pa.Table], place: int = -1) -> Path:
    """Change the rows of a file, log and all: what a faulty program, not a faulty disk, would leave."""
    entry = lake.entries()[place]
    file = lake.root / entry.files[table].path
    pq.write_table(change(pq.read_table(file, partitioning=None)), file)
    part = Part(entry.files[table].path, pq.read_metadata(file).num_rows, file.stat().st_size, sha256_of(file))
    changed = dataclasses.replace(entry, files={**entry.files, table: part})
    (lake.root / "log" / entry.name).write_bytes(changed.written())
    return file


def flip(file: Path, position: int, bit: int = 0) -> None:
    """Turn one bit of a file."""
    content = bytearray(file.read_bytes())
    content[position % len(content)] ^= 1 << bit
    file.write_bytes(content)
