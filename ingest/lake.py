"""The lake: a folder of batches, each a set of Parquet files that appears whole or not at all.

    batches/00000012-20261120T134501Z/<table>.parquet    what readers see; ends in `reparse` when it brings no bytes
    staging/<id>/                                        a batch in the making
    staging/<id>.owner                                   locked for as long as its process lives
    lock                                                 held to stage, to number and to commit

Batches are ordered by their number; the time in the name is for people, so a clock that steps back
does no harm. Readers take no lock: a batch never changes once it is there.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import uuid
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import dropwhile
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ingest.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

Key = tuple[str, str]  # campaign, source_path

_BATCH_NAME: Final = re.compile(r"[0-9]{8,18}-[0-9A-Za-z]+")
_EMPTY: Final = "00000000-empty"
_REREAD: Final = "reparse"  # ends the name of a batch that brings no new bytes


class Version(NamedTuple):
    """What the lake knows of one file: its bytes, what was joined to it, what became of it."""

    sha256: str
    context_sha256: str
    status: str


class Place(NamedTuple):
    """Where the lake keeps the current version of one file, and as what."""

    batch: str
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

    @classmethod
    def create(cls, root: Path) -> Lake:
        """Return the lake at `root`.

        A new one, and one whose newest batch an older version wrote with fewer columns, gets an empty batch: readers
        find every table and every column somewhere.
        """
        lake = cls(root)
        lake._staging.mkdir(parents=True, exist_ok=True)
        lake._batches.mkdir(exist_ok=True)
        with lake._locked():
            if not lake._knows_all_columns():
                folder, owner = lake._stage()
                for name, schema in TABLES.items():
                    pq.write_table(schema.empty_table(), folder / f"{name}.parquet")
                lake._publish(folder, lake._next_name("columns") if lake.batches() else _EMPTY)
                _release(owner)
        return lake

    def _knows_all_columns(self) -> bool:
        if not (batches := self.batches()):
            return False
        files = {name: self._batches / batches[-1] / f"{name}.parquet" for name in TABLES}
        try:
            held = {name: pq.read_schema(file).names for name, file in files.items() if file.exists()}
        except pa.ArrowInvalid:  # damaged: whoever reads its rows can name it
            return True
        return all(set(schema.names) <= set(held.get(name, ())) for name, schema in TABLES.items())

    def batches(self) -> list[str]:
        """Return the names of all batches, oldest first."""
        if not self._batches.is_dir():
            return []
        names = (entry.name for entry in self._batches.iterdir())
        return sorted((n for n in names if _BATCH_NAME.fullmatch(n)), key=_number)

    def files(self, table: str) -> list[Path]:
        """Return the Parquet files of one table, oldest first; batches older than the table have none."""
        files = (self._batches / batch / f"{table}.parquet" for batch in self.batches())
        return list(dropwhile(lambda file: not file.exists(), files))

    def tables(self, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows of one table over all batches, superseded versions included."""
        schema = TABLES[table]
        wanted = list(columns) if columns else schema.names
        empty = pa.schema([schema.field(name) for name in wanted]).empty_table()
        parts = [pq.ParquetFile(file).read(columns=wanted) for file in self.files(table)]
        return pa.concat_tables([empty, *parts], promote_options="default")

    def current_files(self, after: str = "") -> dict[Key, Version]:
        """Return the newest version of every file, without reading any content.

        With `after`, the name of a batch, only what was committed later is told.
        """
        current: dict[Key, Version] = {}
        for batch in self.batches():
            if _number(batch) > _number(after):
                current.update(_versions(self._batches / batch / "raw_files.parquet"))
        return current

    def places(self) -> dict[Key, Place]:
        """Return where the newest version of every file is kept, in that order, without reading any content."""
        columns = ["campaign", "source_path", *Place._fields[4:]]
        places: dict[Key, Place] = {}
        for batch in self.batches():
            with pq.ParquetFile(self._batches / batch / "raw_files.parquet") as file:
                for group in range(file.num_row_groups):
                    rows = file.read_row_group(group, columns=columns)
                    absent = pa.nulls(rows.num_rows)
                    held = (rows[c] if c in rows.column_names else absent for c in columns)
                    for row, found in enumerate(zip(*(column.to_pylist() for column in held), strict=True)):
                        before = places.pop(found[:2], None)
                        origin = before.origin if before and batch.endswith(_REREAD) else batch
                        places[found[:2]] = Place(batch, origin, group, row, *found[2:])
        return places

    def contents(self, batch: str, row_group: int) -> pa.ChunkedArray:
        """Return the kept bytes of all files of one row group, null where they could not be had."""
        with pq.ParquetFile(self._batches / batch / "raw_files.parquet") as file:
            return file.read_row_group(row_group, columns=["content"])["content"]

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
    def _locked(self) -> Iterator[None]:
        with (self.root / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _stage(self) -> tuple[Path, int]:
        """Make a staging folder and lock its owner file; the caller holds the lake's lock.

        The owner file comes first and goes last: a staging folder without one belongs to nobody.
        """
        folder = self._staging / uuid.uuid4().hex
        owner = os.open(folder.with_suffix(".owner"), os.O_CREAT | os.O_RDWR, 0o644)
        fcntl.flock(owner, fcntl.LOCK_EX)
        folder.mkdir()
        return folder, owner

    def _sweep(self) -> None:
        """Remove what dead processes left in staging; the caller holds the lake's lock."""
        for owner in self._staging.glob("*.owner"):
            try:
                with owner.open() as held:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(owner.with_suffix(""), ignore_errors=True)
                    owner.unlink(missing_ok=True)
            except (BlockingIOError, FileNotFoundError):  # alive, or just gone
                continue

    def _publish(self, folder: Path, name: str) -> None:
        for path in (*folder.iterdir(), folder):
            _fsync(path)
        folder.rename(self._batches / name)
        _fsync(self._batches)
        folder.with_suffix(".owner").unlink()

    def _next_name(self, label: str) -> str:
        number = _number(self.batches()[-1]) + 1
        return f"{number:08}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}{label}"


class Batch:
    """A batch in the making. Use it as a context manager: leaving without `commit` discards it.

    Attributes:
        dropped: after `commit`, the files left out because another process had committed them
            (of a reread batch: any version of them).
        dropped_trials: how many trials went with them.

    """

    def __init__(self, lake: Lake, after: str | None = None, *, reread: bool = False) -> None:
        self._lake, self._reread = Lake.create(lake.root), reread
        with self._lake._locked():
            self._lake._sweep()
            self._folder, self._owner = self._lake._stage()
            self._name = self._next_name()
            self._after = self._lake.batches()[-1] if after is None else after
        self._writers = {name: self._writer(name, self._folder) for name in TABLES}
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
            self._writers[table].write_table(_in_batch(rows, TABLES[table], self._name))

    def commit(self) -> str | None:
        """Make the batch visible and return its name; None when others had committed all of it."""
        for writer in self._writers.values():
            writer.close()
        with self._lake._locked():
            others = self._lake.current_files(self._after)
            if others:
                own = dict(_versions(self._folder / "raw_files.parquet"))
                self.dropped = {k: v for k, v in own.items() if k in others and (self._reread or others[k] == v)}
                if own and len(self.dropped) == len(own):
                    self.dropped_trials = pq.read_metadata(self._folder / "trials.parquet").num_rows
                    return None
            # The number was a guess; it stands in every row.
            name = self._next_name()
            if self.dropped or _number(name) != _number(self._name):
                self._rewrite(name)
                self._name = name
            self._lake._publish(self._folder, self._name)
        return self._name

    def discard(self) -> None:
        """Remove what is staged; does nothing after a commit."""
        for writer in self._writers.values():
            writer.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.with_suffix(".owner").unlink(missing_ok=True)
        if self._owner >= 0:
            _release(self._owner)
            self._owner = -1

    def _next_name(self) -> str:
        return self._lake._next_name(_REREAD if self._reread else "")

    def _writer(self, table: str, folder: Path) -> pq.ParquetWriter:
        schema = TABLES[table]
        plain = [name for name in schema.names if name != "content"]
        return pq.ParquetWriter(
            folder / f"{table}.parquet",
            schema,
            compression="zstd",
            use_dictionary=plain,
            write_statistics=plain,
        )

    def _rewrite(self, name: str) -> None:
        """Write the staged files again under another batch name and without the dropped files."""
        fresh = self._folder / "rewritten"
        fresh.mkdir()
        trials: set[str] = set()
        for table, schema in TABLES.items():
            staged = self._folder / f"{table}.parquet"
            with pq.ParquetFile(staged) as old, self._writer(table, fresh) as new:
                for group in range(old.num_row_groups):
                    rows = old.read_row_group(group)
                    doomed = self._doomed(rows, trials)
                    if table == "trials":
                        trials.update(rows.filter(doomed)["trial_id"].to_pylist())
                    new.write_table(_in_batch(rows.filter(pc.invert(doomed)), schema, name))
            (fresh / staged.name).replace(staged)
        fresh.rmdir()
        self.dropped_trials = len(trials)

    def _doomed(self, rows: pa.Table, trials: set[str]) -> pa.Array:
        if "source_path" in rows.column_names:
            keys = zip(rows["campaign"].to_pylist(), rows["source_path"].to_pylist(), strict=True)
            return pa.array([key in self.dropped for key in keys], pa.bool_())
        if "trial_id" in rows.column_names:
            return pa.array([trial in trials for trial in rows["trial_id"].to_pylist()], pa.bool_())
        return pa.repeat(pa.scalar(False), rows.num_rows)


def _number(batch: str) -> int:
    return int(batch.partition("-")[0] or -1)


def _versions(raw_files: Path) -> Iterator[tuple[Key, Version]]:
    columns = ["campaign", "source_path", *Version._fields]
    rows = pq.read_table(raw_files, columns=columns, partitioning=None)
    for campaign, path, *version in zip(*(rows[c].to_pylist() for c in columns), strict=True):
        yield (campaign, path), Version(*version)


def _in_batch(rows: pa.Table, schema: pa.Schema, batch: str) -> pa.Table:
    if "batch" in rows.column_names:
        rows = rows.drop_columns("batch")
    column = pa.repeat(pa.scalar(batch, pa.string()), rows.num_rows)
    return rows.append_column("batch", column).select(schema.names).cast(schema)


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _release(owner: int) -> None:
    os.close(owner)
