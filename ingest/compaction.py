"""Compaction of the lake: small entries of the log become one with the same rows; only a purge drops rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from dropline.errors import DroplineError
from dropline.ingest.lake import Lake
from dropline.ingest.loader import counted
from dropline.ingest.log import Entry, Part
from dropline.ingest.parquet import TableFile, naming, row_groups
from dropline.ingest.retraction import Purge
from dropline.ingest.schema import TABLES
from dropline.ingest.verification import faults
from dropline.progress import Progress, unseen

LARGE_BYTES: Final = 128 * 1024 * 1024  # an entry of this size is not merged further


@dataclass(slots=True)
class Compacted:
    """Result of one `compact`."""

    before: int  # number of entries in force before
    merged: int = 0  # number of entries that were merged
    into: int = 0  # number of new entries that they were merged into
    waiting: int = 0  # folders that stay on disk until their readers finish
    purged: int = 0  # forgotten files that were removed
    left: int = 0  # forgotten files skipped because another process was faster

    def text(self) -> str:
        """Return the result as text."""
        if self.left:
            return f"{self.left} forgotten files were not purged: another process compacted. Run it again"
        if not self.into:
            return f"{counted(self.before, 'commit', 'commits')}; nothing to merge"
        gone = counted(self.purged, "forgotten file is gone for good; ", "forgotten files are gone for good; ")
        merged = f"{gone if self.purged else ''}{counted(self.merged, 'commit', 'commits')} merged into {self.into}"
        read = f"; the next ingest deletes the {self.waiting} replaced ones, which are still being read"
        return f"{merged}; the lake has {self.before - self.merged + self.into} now{read if self.waiting else ''}"


def compact(
    lake: Lake, *, large_bytes: int = LARGE_BYTES, purge: bool = False, progress: Progress = unseen
) -> Compacted:
    """Merge neighbouring entries until each has `large_bytes`; with `purge`, merge all and drop forgotten files.

    Ingests, builds and other compactions may run at the same time; killing it is safe. Raise DroplineError if a file
    differs from what was written; earlier merges stay committed.
    """
    lake = Lake.create(lake.root)
    entries = lake.entries()
    summary = Compacted(len(entries))
    doomed = Purge(lake) if purge else None
    if doomed and not doomed.files:
        return summary
    plan = [entries] if doomed else runs(entries, large_bytes)
    total = sum(map(len, plan))
    for run in plan:
        progress(summary.merged, total)
        if _merge(lake, run, doomed):
            summary.merged += len(run)
            summary.into += 1
            summary.purged = doomed.files if doomed else 0
        elif doomed:
            summary.left = doomed.files
    summary.waiting = lake.sweep()
    if bucket := lake.bucket():
        bucket.sweep({entry.folder for entry in lake.entries()})
    return summary


def runs(entries: Sequence[Entry], large_bytes: int) -> list[list[Entry]]:
    """Return the groups of neighbouring entries to merge."""
    found: list[list[Entry]] = [[]]
    held = 0
    for entry in entries:
        size = sum(part.size_bytes for part in entry.files.values())
        if max(held, size) >= large_bytes:
            found.append([])
            held = 0
        found[-1].append(entry)
        held += size
    return [run for run in found if len(run) > 1]


def _merge(lake: Lake, run: Sequence[Entry], doomed: Purge | None) -> bool:
    """Replace entries by one with the same rows; return False if another process has replaced one of them."""
    label = f"{run[0].batches[0][:8]}-{run[-1].batches[-1][:8]}-compacted"
    with lake.reading(), lake.staged(label) as folder:
        if not {entry.number for entry in run} <= {entry.number for entry in lake.entries()}:
            return False
        if damage := [fault for entry in run for fault in faults(lake.root, entry)]:
            raise DroplineError(damage[0].text())
        parts = {table: _merged(lake.root, run, table, folder, doomed) for table in TABLES}
        batches = [batch for entry in run for batch in entry.batches]
        return lake.replace(run, batches, {table: part for table, part in parts.items() if part and part.rows})


def _merged(root: Path, run: Sequence[Entry], table: str, folder: Path, doomed: Purge | None) -> Part | None:
    files = [root / entry.files[table].path for entry in run if table in entry.files]
    if not files:
        return None
    merged = TableFile(folder, table)
    for file in files:
        with naming(file):
            unknown = ", ".join(sorted({*pq.read_schema(file).names} - {*TABLES[table].names}))
        if unknown:
            message = f"{file} has columns that this version of Dropline does not know ({unknown})"
            raise DroplineError(f"{message}: compact with the version that wrote it")
        for rows in row_groups(file, table):
            merged.write(doomed.keeps(table, rows) if doomed else rows)
    return merged.close()
