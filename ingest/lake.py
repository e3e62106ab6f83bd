"""Lake: Parquet files and a numbered log of commits.

    log/00000012.json              a commit: ingest/log.py
    files/<batch>-<x>/             its files; locked while its process writes them
    empty/<table>.parquet          no rows, so that readers find every table and column
    remote                         the address of the bucket that mirrors the lake, if any: ingest/bucket.py

A commit creates the next entry, by a link on disk or by a conditional put in a bucket, for all tables at once. If two
processes race for a number, the loser reads the winner's commit and retries with the next number. Readers never wait:
files never change, and are removed only if no entry in force names them and no process reads them.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dropline.ingest import log
from dropline.ingest.log import Entry, Part
from dropline.ingest.migration import migrate
from dropline.ingest.parquet import TableFile, belonging, fsync, keyed, naming, plain, replacing, row_groups, widened
from dropline.ingest.schema import TABLES
from dropline.progress import Progress, unseen

if TYPE_CHECKING:
    from dropline.ingest.bucket import Bucket

Key = tuple[str, str]  # campaign, source_path

REREAD: Final = "reparse"  # suffix of the name of a batch without new bytes
FORGOTTEN: Final = "forgotten"  # status in raw_files: no version of the file counts
_AT_ONCE: Final = 8  # parallel downloads; most of the time is latency


class Version(NamedTuple):
    """Version of a file in the lake: digests of the bytes and of the context, and status."""

    sha256: str
    context_sha256: str
    status: str


class Place(NamedTuple):
    """Place and key of the current version of one file in the lake."""

    file: Path  # its table of raw files
    batch: str
    origin: str  # the batch that first stored it; `batch` may be a reparse
    row_group: int
    row: int
    modified_us: int | None
    sha256: str  # empty if the bytes could not be read
    format: str
    status: str
    scope: str | None  # the campaign of its folder, null in batches of older versions
    size_bytes: int


class Lake:
    """Lake in one folder. The constructor writes nothing; `create`, `batch` and `replace` do."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._log, self._files = root / "log", root / "files"
        self._committed: set[Path] = set()

    @classmethod
    def create(cls, root: Path) -> Lake:
        """Return the lake at `root`; create it if missing, and remove leftovers of dead processes."""
        lake = cls(root)
        migrate(root)
        for folder in (lake._log, lake._files, root / "empty"):
            folder.mkdir(parents=True, exist_ok=True)
        for table, schema in TABLES.items():
            file = root / "empty" / f"{table}.parquet"
            if not file.exists() or not pq.read_schema(file).equals(schema):
                with replacing(file) as fresh:
                    pq.write_table(schema.empty_table(), fresh)
        lake.sweep()
        return lake

    @classmethod
    def shared(cls, root: Path, address: str, progress: Progress = unseen) -> Lake:
        """Return the local copy at `root` of the lake in a bucket, updated; its commits go to the bucket."""
        lake = cls.create(root)
        (root / "remote").write_text(address, "utf-8")
        lake.pull(progress)
        return lake

    def entries(self, names: Iterable[str] | None = None) -> list[Entry]:
        """Return the entries in force (all, or those named) in the order of their batches; raise DroplineError."""
        return log.in_force(self._written(log.names(self._log) if names is None else names))

    def batches(self) -> list[str]:
        """Return the names of all batches, oldest first; compaction keeps them."""
        return [batch for entry in self.entries() for batch in entry.batches]

    def commits(self) -> dict[str, str]:
        """Return the folder with the rows of each batch."""
        return {batch: entry.folder for entry in self.entries() for batch in entry.batches}

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Protect the files listed within the block from removal; this needs no write permission."""
        with _locking(self._log, fcntl.LOCK_SH) if self._log.is_dir() else nullcontext():
            yield

    def files(self, table: str) -> list[Path]:
        """Return the Parquet files of a table, oldest first, after an empty one with all columns."""
        empty = self.root / "empty" / f"{table}.parquet"
        named = (entry.files.get(table) for entry in self.entries())
        return [*([empty] if empty.exists() else ()), *(self.root / part.path for part in named if part)]

    def tables(self, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows of a table from all batches, including superseded versions."""
        schema = pa.schema([TABLES[table].field(name) for name in columns or TABLES[table].names])
        parts = [schema.empty_table()]
        with self.reading():
            for file in self.files(table):
                with naming(file), pq.ParquetFile(file) as parquet:
                    parts.append(widened(parquet.read(columns=schema.names), schema))
        return pa.concat_tables(parts)

    def lay_out(self, folder: Path) -> Lake:
        """Link all files in force into `folder`/<table>/, in order; return a snapshot, valid while `reading`."""
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "log").mkdir(parents=True)
        for entry in self.entries():
            os.link(self._log / entry.name, folder / "log" / entry.name)
        for name in ("files", "empty"):
            (folder / name).symlink_to((self.root / name).absolute(), target_is_directory=True)
        laid_out = Lake(folder)
        for table in TABLES:
            (folder / table).mkdir()
            for place, file in enumerate(laid_out.files(table)):
                (folder / table / f"{place:08}.parquet").symlink_to(file.absolute())
        return laid_out

    def current_files(self, after: str = "") -> dict[Key, Version]:
        """Return the newest version of every file, or of those committed `after` a batch; read no contents."""
        current: dict[Key, Version] = {}
        with self.reading():
            for entry in self.entries():
                if entry.batches[-1] > after and (part := entry.files.get("raw_files")):
                    current.update(_versions(self.root / part.path, after))
        return current

    def places(self) -> dict[Key, Place]:
        """Return the place of the newest version of every file, in storage order; read no contents."""
        columns = ["campaign", "source_path", "batch", "modified_at", *Place._fields[6:]]
        schema = pa.schema([TABLES["raw_files"].field(name) for name in columns])
        places: dict[Key, Place] = {}
        with self.reading():
            for file in self.files("raw_files"):
                with naming(file), pq.ParquetFile(file) as parquet:
                    for group in range(parquet.num_row_groups):
                        rows = widened(parquet.read_row_group(group, columns=columns), schema)
                        for row, found in enumerate(zip(*map(plain, rows), strict=True)):
                            key, batch = found[:2], found[2]
                            before = places.pop(key, None)
                            origin = before.origin if before and batch.endswith(REREAD) else batch
                            places[key] = Place(file, batch, origin, group, row, *found[3:])
        return {key: place for key, place in places.items() if place.status != FORGOTTEN}

    def contents(self, file: Path, row_group: int) -> pa.ChunkedArray:
        """Return the stored bytes of the files of one row group, null for those that could not be read."""
        with naming(file), pq.ParquetFile(file) as parquet:
            return parquet.read_row_group(row_group, columns=["content"])["content"]

    @contextmanager
    def batch(self, after: str | None = None, *, reread: bool = False) -> Iterator[Batch]:
        """Yield a new batch, of which nothing remains without `Batch.commit`.

        `after` is the newest batch that the caller knows, by default the current one: files that others have committed
        since are dropped, from a `reread` batch in any version, so that old bytes never supersede new ones.
        """
        lake = Lake.create(self.root)
        with ExitStack() as stack:
            yield Batch(lake, stack, (lake.batches() or [""])[-1] if after is None else after, reread=reread)

    @contextmanager
    def staged(self, label: str = "staged") -> Iterator[Path]:
        """Yield a new folder for unfinished files; afterwards remove it unless an entry names it."""
        with ExitStack() as stack:
            while True:
                folder = self._files / f"{label}-{secrets.token_hex(4)}"
                folder.mkdir()
                with suppress(FileNotFoundError):  # another process swept it before it was locked
                    stack.enter_context(_locking(folder, fcntl.LOCK_EX))
                    if folder.exists():
                        break
            try:
                yield folder
            finally:
                if folder not in self._committed:
                    shutil.rmtree(folder, ignore_errors=True)

    def replace(self, old: Sequence[Entry], batches: Sequence[str], files: Mapping[str, Part]) -> bool:
        """Replace entries by one with the rows of `batches` in `files`; return False if one was replaced already."""
        numbers = {entry.number for entry in old}
        self.pull()
        while numbers <= {entry.number for entry in self.entries()}:
            if self.append(Entry(self.next_number(), tuple(batches), files, tuple(sorted(numbers)))):
                return True
            self.pull()
        return False

    def append(self, entry: Entry) -> bool:
        """Create an entry of the log, whose files must exist; return False if its number is taken."""
        folders = {(self.root / part.path).parent for part in entry.files.values()}
        for folder in (*folders, self._files):
            fsync(folder)
        if (bucket := self.bucket()) and not bucket.commit(self.root, entry):
            return False
        if created := self._link(entry) or bool(bucket):  # another process may have pulled it meanwhile
            self._committed |= folders
        return created

    def next_number(self) -> int:
        """Return the number of the next entry, unless another process takes it."""
        names = log.names(self._log)
        return int(names[-1][:8]) + 1 if names else 1

    def sweep(self) -> int:
        """Remove files that no entry in force names; return the number of folders kept because they may be read."""
        listed = {*os.listdir(self._files)}  # noqa: PTH208 - thousands of them
        named, in_force = self._folders()
        with ExitStack() as stack:
            free = set()
            for name in listed - named:
                with suppress(OSError):  # its process is alive or has just ended
                    stack.enter_context(_locking(self._files / name, fcntl.LOCK_EX | fcntl.LOCK_NB))
                    free.add(name)
            if free:
                self._remove(free - self._folders()[0])  # a folder may have been committed before its lock was freed
        if not (replaced := listed & named - in_force):
            return 0
        try:  # Only current readers can have listed them before they were replaced.
            with _locking(self._log, fcntl.LOCK_EX | fcntl.LOCK_NB):
                self._remove(replaced)
        except OSError:  # in use, or the file system has no locks
            return len(replaced)
        return 0

    def bucket(self) -> Bucket | None:
        """Return the bucket that mirrors this lake."""
        if not (remote := self.root / "remote").exists():
            return None
        from dropline.ingest.bucket import Bucket

        return Bucket(remote.read_text("utf-8"))

    def pull(self, progress: Progress = unseen) -> None:
        """Fetch new commits from the bucket: first files, then the entries that name them."""
        if not (bucket := self.bucket()):
            return
        here = log.names(self._log)
        fetched = [bucket.entry(name) for name in sorted(bucket.log() - {*here})]
        entries = log.in_force([*self._written(here), *fetched])
        parts = [part for entry in entries for part in entry.files.values() if not (self.root / part.path).exists()]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for done, _ in enumerate(pool.map(lambda part: bucket.fetch(self.root, part), parts), 1):
                progress(done, len(parts))
        for entry in fetched:
            self._link(entry)

    def _written(self, names: Iterable[str]) -> Iterator[Entry]:
        for name in names:
            with naming(self._log / name):
                yield log.entry(self._log / name)

    def _folders(self) -> tuple[set[str], set[str]]:
        entries = [*self._written(log.names(self._log))]
        return {entry.folder for entry in entries}, {entry.folder for entry in log.in_force(entries)}

    def _remove(self, folders: Iterable[str]) -> None:
        for name in folders:
            shutil.rmtree(self._files / name, ignore_errors=True)

    def _link(self, entry: Entry) -> bool:
        with self.staged("entry") as folder:
            with replacing(folder / entry.name) as fresh:
                fresh.write(entry.written())
            try:
                os.link(folder / entry.name, self._log / entry.name)
            except FileExistsError:
                return False
        fsync(self._log)
        return True


class Batch:
    """An unfinished batch, which begins with its first rows; it is removed when `stack` closes unless committed."""

    def __init__(self, lake: Lake, stack: ExitStack, after: str, *, reread: bool) -> None:
        self._lake, self._stack, self._after, self._reread = lake, stack, after, reread
        self._writers: dict[str, TableFile] = {}
        # After `commit`: files dropped because others committed them meanwhile (for a reread batch, in any version).
        self.dropped: dict[Key, Version] = {}
        self.dropped_trials = 0  # number of trials in the dropped files

    @property
    def name(self) -> str:
        """Name of the batch, unless another one is committed first."""
        return f"{self._number:08}-{self._began:%Y%m%dT%H%M%SZ}{REREAD if self._reread else ''}"

    def add(self, table: str, rows: pa.Table) -> None:
        """Append rows to a table of the batch."""
        if rows.num_rows:
            if not self._writers:
                self._number, self._began = self._lake.next_number(), datetime.now(UTC)
                self._folder = self._stack.enter_context(self._lake.staged(self.name))
            if table not in self._writers:
                self._writers[table] = TableFile(self._folder, table)
                self._stack.callback(self._writers[table].abandon)
            self._writers[table].write(_in_batch(rows, TABLES[table], self.name))

    def commit(self) -> str | None:
        """Commit the batch and return its name, or None if it is empty or others have committed all of it."""
        if not self._writers:
            return None
        parts = ready = {table: writer.close() for table, writer in self._writers.items()}
        while True:
            self._lake.pull()
            number, others = self._lake.next_number(), self._lake.current_files(self._after)
            part = parts.get("raw_files") if others else None
            own = dict(_versions(self._lake.root / part.path)) if part else {}
            dropped = {k: v for k, v in own.items() if k in others and (self._reread or others[k] == v)}
            if own and len(dropped) == len(own):
                self.dropped, self.dropped_trials = dropped, parts["trials"].rows if "trials" in parts else 0
                return None
            if dropped.keys() != self.dropped.keys() or number != self._number:
                self._number, self.dropped = number, dropped
                ready = self._rewritten(parts)
            if self._lake.append(Entry(self._number, (self.name,), ready)):
                return self.name

    def _rewritten(self, parts: Mapping[str, Part]) -> dict[str, Part]:
        folder = self._stack.enter_context(self._lake.staged(self.name))
        files, trials, written = keyed(self.dropped), keyed(()), {}
        if self.dropped and "trials" in parts:
            for rows in row_groups(self._lake.root / parts["trials"].path, "trials"):
                gone = rows.filter(belonging(rows, files, keyed(())))
                trials = pa.concat_arrays([trials, *gone["trial_id"].chunks])
        self.dropped_trials = len(trials)
        for table, part in parts.items():
            file = TableFile(folder, table)
            for rows in row_groups(self._lake.root / part.path, table):
                kept = rows.filter(pc.invert(belonging(rows, files, trials)))
                file.write(_in_batch(kept, TABLES[table], self.name))
            written[table] = file.close()
        return {table: part for table, part in written.items() if part.rows}


@contextmanager
def _locking(folder: Path, how: int) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, how)
        yield
    finally:
        os.close(handle)


def _versions(raw_files: Path, after: str = "") -> Iterator[tuple[Key, Version]]:
    """Yield the files committed after a batch; compacted tables may also hold earlier ones."""
    columns = ["campaign", "source_path", "batch", *Version._fields]
    with naming(raw_files):
        rows = pq.read_table(raw_files, columns=columns, partitioning=None)
        for campaign, path, batch, *version in zip(*(rows[c].to_pylist() for c in columns), strict=True):
            if batch > after:
                yield (campaign, path), Version(*version)


def _in_batch(rows: pa.Table, schema: pa.Schema, batch: str) -> pa.Table:
    column = pa.repeat(pa.scalar(batch, pa.string()), rows.num_rows)
    others = rows.select([name for name in rows.column_names if name != "batch"])
    return others.append_column("batch", column).select(schema.names).cast(schema)
