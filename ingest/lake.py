"""The lake: a folder of batches, each a set of Parquet files that appears whole or not at all.

    batches/00000012-20261120T134501Z/    what readers see; ends in `reparse` when it brings no bytes: ingest/batches.py
    batches/                              locked, shared, by whoever opens files after it has listed them
    damaged/                              batches that were set aside
    outbox/                               there in a mirror only: batches that wait to be pushed, ingest/mirror.py
    staging/<id>/                         a batch in the making
    staging/<id>.owner                    locked for as long as its process lives
    lock                                  held to stage, to number and to commit

Batches are ordered by their number; the time in the name is for people, so a clock that steps back
does no harm. Readers wait for nobody: a batch never changes once it is there, and goes only when a compacted one has
replaced it and nobody reads.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import chain, dropwhile
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dropline.ingest.batches import (
    Manifest,
    TableFile,
    arranged,
    commits,
    commits_of,
    compacted,
    digits,
    faults,
    following,
    fsync,
    naming,
    number,
    widened,
)
from dropline.ingest.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from dropline.ingest.batches import Fault, Part

Key = tuple[str, str]  # campaign, source_path

_EMPTY: Final = "00000000-empty"
REREAD: Final = "reparse"  # ends the name of a batch that brings no new bytes
FORGOTTEN: Final = "forgotten"  # status of a row of raw_files after which no version of the file counts


class Version(NamedTuple):
    """What the lake knows of one file: its bytes, what was joined to it, what became of it."""

    sha256: str
    context_sha256: str
    status: str


class Place(NamedTuple):
    """Where the lake keeps the current version of one file, and as what."""

    folder: str  # the batch as it lies in the lake
    batch: str  # the batch as it was committed, which stands in the rows
    origin: str  # the batch of the ingest that brought it; `batch` may have read it again
    row_group: int
    row: int
    modified_at: datetime | None
    sha256: str  # empty when the bytes could not be had
    format: str
    status: str
    scope: str | None  # the campaign of its folder, null in batches of old


class Lake:
    """The batches under one folder. Making a Lake touches nothing; `create` and `batch` write."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._batches = root / "batches"
        self._staging = root / "staging"
        self.outbox = root / "outbox"

    @classmethod
    def create(cls, root: Path) -> Lake:
        """Return the lake at `root`.

        A new one, and one whose newest batch an older version wrote with fewer columns, gets an empty batch: readers
        find every table and every column somewhere.
        """
        lake = cls(root)
        lake._staging.mkdir(parents=True, exist_ok=True)
        lake._batches.mkdir(exist_ok=True)
        if not lake._knows_all_columns():
            with lake.staged() as folder:
                parts = {name: TableFile(folder, name).close() for name in TABLES}
                with lake._locked():
                    if not lake._knows_all_columns():
                        lake._publish(folder, lake._next_name("columns") if lake._numbers() else _EMPTY, parts)
        return lake

    def _knows_all_columns(self) -> bool:
        if not (batches := self.batches()):
            return False
        files = {name: self._batches / batches[-1] / f"{name}.parquet" for name in TABLES}
        try:
            held = {name: pq.read_schema(file).names for name, file in files.items() if file.exists()}
        except (pa.ArrowException, OSError):  # damaged: whoever reads its rows names it
            return True
        return all(set(schema.names) <= set(held.get(name, ())) for name, schema in TABLES.items())

    def batches(self) -> list[str]:
        """Return the names of all batches, oldest first; what a compacted one has replaced is none."""
        return arranged(self._batches)[0]

    def commits(self) -> dict[str, str]:
        """Return the batch that holds each commit; compaction never changes the commits nor their order."""
        with self.reading():
            return commits(self._batches)

    @property
    def shared(self) -> bool:
        """Whether other machines write to it, too: a batch is seen when it was pushed."""
        return self.outbox.is_dir()

    def folder(self, batch: str) -> Path:
        """Return where a batch lies."""
        return self._batches / batch

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Keep all batches that are listed from here on until the block ends; needs no right to write."""
        if not self._batches.is_dir():
            yield
            return
        with _locking(self._batches, fcntl.LOCK_SH):
            yield

    def damaged(self, batches: Iterable[str], *, thorough: bool = False) -> list[Fault]:
        """Return what is wrong with the files of some batches, by size and footer; a thorough look reads all bytes."""
        look = partial(faults, thorough=thorough)
        with ThreadPoolExecutor(os.cpu_count()) as threads:  # digests are computed beside each other
            return [*chain.from_iterable(threads.map(look, map(self.folder, batches)))]

    def files(self, table: str) -> list[Path]:
        """Return the Parquet files of one table, oldest first; batches older than the table have none."""
        files = (self._file(batch, table) for batch in self.batches())
        return list(dropwhile(lambda file: not file.exists(), files))

    def tables(self, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows of one table over all batches, superseded versions included."""
        schema = TABLES[table]
        wanted = list(columns) if columns else schema.names
        empty = pa.schema([schema.field(name) for name in wanted]).empty_table()
        parts = []
        with self.reading():
            for file in self.files(table):
                with naming(file), pq.ParquetFile(file) as parquet:
                    parts.append(widened(parquet.read(columns=wanted), empty.schema))
        return pa.concat_tables([empty, *parts])

    def current_files(self, after: str = "") -> dict[Key, Version]:
        """Return the newest version of every file, without reading any content.

        With `after`, the name of a batch, only what was committed later is told.
        """
        current: dict[Key, Version] = {}
        with self.reading():
            for batch in self.batches():
                if number(batch) > number(after):
                    current.update(_versions(self._file(batch, "raw_files"), number(after)))
        return current

    def places(self) -> dict[Key, Place]:
        """Return where the newest version of every file is kept, in that order, without reading any content."""
        columns = ["campaign", "source_path", "batch", *Place._fields[5:]]
        places: dict[Key, Place] = {}
        with self.reading():
            for folder in self.batches():
                file = self._file(folder, "raw_files")
                with naming(file), pq.ParquetFile(file) as parquet:
                    for group in range(parquet.num_row_groups):
                        rows = parquet.read_row_group(group, columns=columns)
                        absent = pa.nulls(rows.num_rows)
                        held = (rows[c] if c in rows.column_names else absent for c in columns)
                        for row, found in enumerate(zip(*(column.to_pylist() for column in held), strict=True)):
                            key, batch = found[:2], found[2]
                            before = places.pop(key, None)
                            origin = before.origin if before and batch.endswith(REREAD) else batch
                            places[key] = Place(folder, batch, origin, group, row, *found[3:])
        return {key: place for key, place in places.items() if place.status != FORGOTTEN}

    def contents(self, folder: str, row_group: int) -> pa.ChunkedArray:
        """Return the kept bytes of all files of one row group, null where they could not be had."""
        file = self._file(folder, "raw_files")
        with naming(file), pq.ParquetFile(file) as parquet:
            return parquet.read_row_group(row_group, columns=["content"])["content"]

    def batch(self, after: str | None = None, *, reread: bool = False) -> Batch:
        """Begin a batch; nobody sees it before `Batch.commit`.

        `after` is the newest batch of which the caller knows, as of now when not given: what others
        commit later is not committed again. A `reread` batch brings no new bytes: it leaves out
        every file of which others commit any version, so that old bytes never supersede new ones.
        """
        return Batch(self, after, reread=reread)

    def commit(self, tables: Mapping[str, pa.Table]) -> str | None:
        """Write `tables` (any of schema.TABLES; the batch column is filled in) as one batch.

        Returns the batch's name, or None when another process has committed all its files before.
        """
        with self.batch() as batch:
            for name, rows in tables.items():
                batch.add(name, rows)
            return batch.commit()

    @contextmanager
    def staged(self) -> Iterator[Path]:
        """Yield a new folder for a batch in the making; what was not published of it is removed.

        The owner file comes first and goes last: a staging folder without one belongs to nobody.
        """
        with self._locked():
            self._sweep()
            folder = self._staging / uuid.uuid4().hex
            owner = os.open(folder.with_suffix(".owner"), os.O_CREAT | os.O_RDWR, 0o644)
            fcntl.flock(owner, fcntl.LOCK_EX)
            folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            folder.with_suffix(".owner").unlink(missing_ok=True)
            os.close(owner)

    def replace(self, batches: Sequence[str], folder: Path, parts: Mapping[str, Part]) -> str | None:
        """Publish the staged `folder` in the place of neighbouring batches; return its name, None if one is gone.

        The replaced folders stay until `sweep`; in a shared lake all stays as it is until the new one was pushed.
        """
        with self._locked():
            if not set(batches) <= set(self.batches()):
                return None
            name = compacted(batches, shared=self.shared)
            self._publish(folder, name, parts, [c for batch in batches for c in commits_of(self._batches / batch)])
            return name

    def sweep(self) -> int:
        """Remove the batches that were replaced; return how many must stay because somebody may read them."""
        if not arranged(self._batches)[1]:
            return 0
        with self.staged() as away, self._locked():
            doomed = self._replaced()
            try:
                # Who reads now may have listed them before they were replaced; who begins later cannot.
                with _locking(self._batches, fcntl.LOCK_EX | fcntl.LOCK_NB):
                    pass
            except OSError:  # somebody reads, or this file system has no such locks
                return len(doomed)
            for name in doomed:
                (self._batches / name).rename(away / name)
        return 0

    def set_aside(self, batch: str) -> Path:
        """Move a batch to `damaged`, where nobody reads it, and return where it lies now."""
        aside = self.root / "damaged"
        with self._locked():
            aside.mkdir(exist_ok=True)
            moved = aside / batch
            if moved.exists():  # it was put back, and is damaged again
                moved = aside / f"{batch}.{uuid.uuid4().hex[:8]}"
            (self._batches / batch).rename(moved)
            for folder in (self._batches, aside):
                fsync(folder)
        return moved

    def _replaced(self) -> list[str]:
        """Return the replaced folders whose rows are all elsewhere: one that was put back by hand is not ours."""
        _, replaced = arranged(self._batches)
        held = commits(self._batches).keys() if replaced else set()
        return [name for name in replaced if held >= {*commits_of(self._batches / name)}]

    def _file(self, batch: str, table: str) -> Path:
        return self._batches / batch / f"{table}.parquet"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self.root / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _sweep(self) -> None:
        """Remove what dead processes left in staging; the caller holds the lake's lock."""
        for owner in self._owned_by_the_dead():
            shutil.rmtree(owner.with_suffix(""), ignore_errors=True)
            owner.unlink(missing_ok=True)

    def _owned_by_the_dead(self) -> Iterator[Path]:
        for owner in self._staging.glob("*.owner"):
            try:
                with owner.open() as held:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    yield owner
            except (BlockingIOError, FileNotFoundError):  # alive, or just gone
                continue

    def _publish(self, folder: Path, name: str, parts: Mapping[str, Part], held: Sequence[str] | None = None) -> None:
        for file in folder.iterdir():
            fsync(file)
        Manifest(tuple(held or [name]), parts).write(folder)
        place = self.outbox if self.shared and name != _EMPTY else self._batches
        folder.rename(place / name)
        fsync(place)

    def _next_name(self, label: str) -> str:
        after = following(max(self._numbers()), shared=self.shared)
        return f"{digits(after)}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}{label}"

    def _numbers(self) -> set[int]:
        """Return the numbers that are taken: a batch that was set aside can come back."""
        folders = (self._batches, self.root / "damaged", self.outbox)
        return {number(name) for folder in folders for name in arranged(folder)[0]}


class Batch:
    """A batch in the making. Use it as a context manager: leaving without `commit` discards it.

    Attributes:
        dropped: after `commit`, the files left out because another process had committed them
            (of a reread batch: any version of them).
        dropped_trials: how many trials went with them.

    """

    def __init__(self, lake: Lake, after: str | None = None, *, reread: bool = False) -> None:
        self._lake, self._reread = Lake.create(lake.root), reread
        self._lake.sweep()
        self._stack = ExitStack()
        self._folder = self._stack.enter_context(self._lake.staged())
        with self._lake._locked():
            self._name = self._next_name()
            self._after = self._lake.batches()[-1] if after is None else after
        self._writers = {name: TableFile(self._folder, name) for name in TABLES}
        self.dropped: dict[Key, Version] = {}
        self.dropped_trials = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()

    def add(self, table: str, rows: pa.Table) -> None:
        """Append rows to one table of the batch."""
        if rows.num_rows:
            self._writers[table].write(_in_batch(rows, TABLES[table], self._name))

    def commit(self) -> str | None:
        """Make the batch visible and return its name; None when others had committed all of it."""
        parts = {name: writer.close() for name, writer in self._writers.items()}
        with self._lake._locked():
            others = self._lake.current_files(self._after)
            if others:
                own = dict(_versions(self._folder / "raw_files.parquet"))
                self.dropped = {k: v for k, v in own.items() if k in others and (self._reread or others[k] == v)}
                if own and len(self.dropped) == len(own):
                    self.dropped_trials = parts["trials"].rows
                    return None
            # The number was a guess; it stands in every row.
            if self.dropped or number(self._name) <= max(self._lake._numbers()):
                name = self._next_name()
                parts = self._rewrite(name)
                self._name = name
            self._lake._publish(self._folder, self._name, parts)
        return self._name

    def discard(self) -> None:
        """Remove what is staged; does nothing after a commit."""
        for writer in self._writers.values():
            writer.abandon()
        self._stack.close()

    def _next_name(self) -> str:
        return self._lake._next_name(REREAD if self._reread else "")

    def _rewrite(self, name: str) -> dict[str, Part]:
        """Write the staged files again under another batch name and without the dropped files."""
        fresh = self._folder / "rewritten"
        fresh.mkdir()
        trials: set[str] = set()
        parts: dict[str, Part] = {}
        for table, schema in TABLES.items():
            staged = self._folder / f"{table}.parquet"
            with pq.ParquetFile(staged) as old, closing(TableFile(fresh, table)) as new:
                for group in range(old.num_row_groups):
                    rows = old.read_row_group(group)
                    doomed = self._doomed(rows, trials)
                    if table == "trials":
                        trials.update(rows.filter(doomed)["trial_id"].to_pylist())
                    new.write(_in_batch(rows.filter(pc.invert(doomed)), schema, name))
            parts[table] = new.close()
            (fresh / staged.name).replace(staged)
        fresh.rmdir()
        self.dropped_trials = len(trials)
        return parts

    def _doomed(self, rows: pa.Table, trials: set[str]) -> pa.Array:
        if "source_path" in rows.column_names:
            keys = zip(rows["campaign"].to_pylist(), rows["source_path"].to_pylist(), strict=True)
            return pa.array([key in self.dropped for key in keys], pa.bool_())
        if "trial_id" in rows.column_names:
            return pa.array([trial in trials for trial in rows["trial_id"].to_pylist()], pa.bool_())
        return pa.repeat(pa.scalar(False), rows.num_rows)


@contextmanager
def _locking(folder: Path, how: int) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, how)
        yield
    finally:
        os.close(handle)


def _versions(raw_files: Path, after: int = -1) -> Iterator[tuple[Key, Version]]:
    """Yield the files of a batch that were committed after a number; a compacted one may hold both kinds."""
    columns = ["campaign", "source_path", "batch", *Version._fields]
    with naming(raw_files):
        rows = pq.read_table(raw_files, columns=columns, partitioning=None)
        for campaign, path, batch, *version in zip(*(rows[c].to_pylist() for c in columns), strict=True):
            if after < 0 or number(batch) > after:
                yield (campaign, path), Version(*version)


def _in_batch(rows: pa.Table, schema: pa.Schema, batch: str) -> pa.Table:
    if "batch" in rows.column_names:
        rows = rows.drop_columns("batch")
    column = pa.repeat(pa.scalar(batch, pa.string()), rows.num_rows)
    return rows.append_column("batch", column).select(schema.names).cast(schema)
