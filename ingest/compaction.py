"""Compaction: runs of small batches become one, and every row stays as it was, in its order.

A merged batch carries the numbers that it stands for in its name, so that its one rename also retires the batches
it replaces: a reader lists either them or it. They are deleted afterwards, when nobody can read them any more.

Only a purge leaves rows out: those of files that were forgotten, see ingest/retraction.py.
"""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from dropline.errors import DroplineError
from dropline.ingest.batches import DamagedFile, TableFile, naming, place, span, widened
from dropline.ingest.lake import Lake
from dropline.ingest.retraction import Purge
from dropline.ingest.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from dropline.ingest.batches import Part

LARGE_BYTES: Final = 128 * 1024 * 1024  # a batch of this size is not merged any more


@dataclass(slots=True)
class Compacted:
    """What one `compact` did.

    Attributes:
        before: how many batches there were.
        merged: how many of them became `into`, the names of the new ones.
        waiting: replaced batches that stay on the disk until their readers have ended.
        purged: files that were forgotten, and are gone now; of others `left` stand in a batch that has no neighbour.

    """

    before: int
    merged: int = 0
    into: tuple[str, ...] = ()
    waiting: int = 0
    purged: int = 0
    left: int = 0

    def text(self) -> str:
        """Return the outcome for people."""
        if not self.into:
            return f"{self.before} batches; nothing to merge{self._left()}"
        left = self.before - self.merged + len(self.into)
        gone = f"{self.purged} forgotten files are gone for good; " if self.purged else ""
        said = f"{gone}{self.merged} batches merged into {len(self.into)}; the lake has {left} now"
        said += self._left()
        if self.waiting:
            said += f"; {self.waiting} replaced ones are deleted by the next ingest, as somebody is reading"
        return said

    def _left(self) -> str:
        return f"; {self.left} forgotten files could not be purged yet: repeat it" if self.left else ""


def compact(
    lake: Lake,
    *,
    large_bytes: int = LARGE_BYTES,
    purge: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> Compacted:
    """Merge neighbouring batches until each has `large_bytes`, as far as there are such neighbours.

    Ingests, builds and other compactions may run beside it; it may be killed at any time. Every batch is held against
    its manifest before it is merged. With `purge` all are merged whatever their size, and what was forgotten is left
    out: nothing brings it back. `progress` is called with (done, total, batch) before each batch. Raises
    DamagedFile when one is not what was written; what was merged before that stays.
    """
    lake = Lake.create(lake.root)
    lake.sweep()
    told = Compacted(len(lake.batches()))
    doomed = Purge(lake) if purge else None
    if doomed and not doomed.files:
        return told
    if doomed:
        with lake.batch() as beside:  # a batch is merged with others only, and one may hold all
            beside.commit()
    plan = runs(lake, sys.maxsize if doomed else large_bytes)
    total = sum(map(len, plan))
    for run in plan:
        if progress:
            progress(told.merged, total, run[0])
        if name := _merge(lake, run, doomed):
            told.merged += len(run)
            told.into += (name,)
        told.waiting = lake.sweep()
    if doomed:
        told.left = Purge(lake).files
        told.purged = doomed.files - told.left
    return told


def runs(lake: Lake, large_bytes: int) -> list[list[str]]:
    """Return which batches to merge: neighbours without a gap, so that one that was set aside still fits in again."""
    found: list[list[str]] = [[]]
    held = large_bytes
    for before, batch in pairwise(["", *lake.batches()]):
        size = sum(file.stat().st_size for file in lake.folder(batch).iterdir())
        follows = place(span(batch)[0]) - place(span(before)[1]) in (0, 1)  # 0: two machines at once
        if not follows or max(held, size) >= large_bytes:
            found.append([])
            held = 0
        found[-1].append(batch)
        held += size
    return [run for run in found if len(run) > 1]


def _merge(lake: Lake, run: Sequence[str], doomed: Purge | None) -> str | None:
    """Publish one batch with the rows of all; None when somebody else has merged one of them, or set it aside."""
    with lake.reading(), lake.staged() as folder:
        if not set(run) <= set(lake.batches()):
            return None
        if damage := lake.damaged(run, thorough=True):
            raise DamagedFile(damage[0].text())
        return lake.replace(run, folder, {table: _merged(lake, run, table, folder, doomed) for table in TABLES})


def _merged(lake: Lake, run: Sequence[str], table: str, folder: Path, doomed: Purge | None) -> Part:
    with closing(TableFile(folder, table)) as file:
        files = (lake.folder(batch) / f"{table}.parquet" for batch in run)
        for each in files:
            for rows in _row_groups(each, TABLES[table]):
                file.write(doomed.keeps(table, rows) if doomed else rows)
    return file.close()


def _row_groups(file: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    if not file.exists():  # the batch is older than the table
        return
    with naming(file), pq.ParquetFile(file) as parquet:
        if unknown := set(parquet.schema_arrow.names) - set(schema.names):
            message = (
                f"{file} has columns that this version of Dropline does not know ({', '.join(sorted(unknown))}): "
                "compact with the version that wrote it"
            )
            raise DroplineError(message)
        for group in range(parquet.num_row_groups):
            yield widened(parquet.read_row_group(group), schema)
