"""Parquet files of the lake: written once, hashed on the way, synced before the commit."""

from __future__ import annotations

import hashlib
import io
import os
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dropline.errors import DroplineError
from dropline.ingest.log import DamagedEntry, Part
from dropline.ingest.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

GROUP_BYTES: Final = 4 * 1024 * 1024  # of a row group, as it lies in memory
GROUP_ROWS: Final = 122_880  # as DuckDB's own row groups
# What Arrow raises on bytes that are no Parquet, or no longer; a broken text only shows when it is decoded.
UNREADABLE: Final = (pa.ArrowException, OSError, ValueError, KeyError)


class DamagedFile(DroplineError):
    """A file of the lake cannot be read, or is not what was written."""


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Turn what Arrow says of a damaged `file` into DamagedFile."""
    try:
        yield
    except (*UNREADABLE, DamagedEntry) as error:
        message = (
            f"{file}: {reason(error)}. Type `dropline verify` to see what is damaged; "
            "`dropline verify --set-aside` lets everything else work again."
        )
        raise DamagedFile(message) from error


def reason(error: BaseException) -> str:
    """Return in one line why a file cannot be read."""
    if isinstance(error, FileNotFoundError):
        return "is missing"
    lines = str(getattr(error, "strerror", None) or error).strip().splitlines()
    return f"cannot be read ({lines[0] if lines else type(error).__name__})"


class TableFile:
    """The Parquet file of one table in the making.

    Small parts are gathered into row groups of a decent size: what a writer has to remember of every group, and a
    reader to look at, is soon more than what is in a small one.
    """

    def __init__(self, folder: Path, table: str) -> None:
        schema = TABLES[table]
        self._path = f"{folder.parent.name}/{folder.name}/{table}.parquet"
        self._rows = 0
        self._waiting: list[pa.Table] = []
        self._waiting_rows = self._waiting_bytes = 0  # counted on: a group may be of very many parts
        self._file = _Hashed(folder / f"{table}.parquet")
        self._parquet = pq.ParquetWriter(
            self._file,
            schema,
            compression="zstd",
            use_dictionary=[leaf for field in schema for leaf in _text_leaves(field)],
            write_statistics=[name for name in schema.names if name != "content"],
        )

    def write(self, rows: pa.Table) -> None:
        """Append rows."""
        self._rows += rows.num_rows
        self._waiting.append(rows)
        self._waiting_rows += rows.num_rows
        self._waiting_bytes += rows.nbytes
        if self._waiting_rows >= GROUP_ROWS or self._waiting_bytes >= GROUP_BYTES:
            self._write_group()

    def _write_group(self) -> None:
        group = pa.concat_tables(self._waiting)
        self._waiting, self._waiting_rows, self._waiting_bytes = [], 0, 0
        self._parquet.write_table(group)

    def close(self) -> Part:
        """End the file, have it on the disk, and return what was written."""
        if self._waiting:
            self._write_group()
        self._parquet.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return Part(self._path, self._rows, self._file.size_bytes, self._file.sha256.hexdigest())

    def abandon(self) -> None:
        """End a file that nobody will read; what it still had to write may not fit the disk."""
        with suppress(OSError, pa.ArrowException):
            self._parquet.close()
        self._parquet.is_open = False  # or it would try again when it is collected
        with suppress(OSError):
            self._file.close()


def _text_leaves(field: pa.Field) -> list[str]:
    """Return the columns of Parquet in which a field has text: it repeats, as numbers and contents hardly do."""
    if pa.types.is_string(field.type):
        return [field.name]
    if pa.types.is_list(field.type):
        return [f"{field.name}.list.element"]
    if pa.types.is_map(field.type):
        return [f"{field.name}.key_value.key", f"{field.name}.key_value.value"]
    return []


class _Hashed(io.BufferedWriter):
    """A file that is written from its beginning to its end, and hashed on the way."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path, "w"))
        self.size_bytes = 0
        self.sha256 = hashlib.sha256()

    def write(self, data: bytes, /) -> int:  # type: ignore[override] # Arrow gives bytes and its own buffers
        self.sha256.update(data)
        self.size_bytes += len(data)
        return super().write(data)


def row_groups(file: Path, table: str) -> Iterator[pa.Table]:
    """Yield the row groups of a file in the columns that its table has today."""
    with naming(file), pq.ParquetFile(file) as parquet:
        for group in range(parquet.num_row_groups):
            yield widened(parquet.read_row_group(group), TABLES[table])


def widened(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return `rows` in the columns of `schema`; what an older version did not write is null."""
    return pa.concat_tables([schema.empty_table(), rows], promote_options="default").select(schema.names).cast(schema)


def joined(rows: pa.Table, columns: Sequence[str]) -> pa.ChunkedArray:
    """Return the values of each row as one text, to look rows up by; null where one of them is."""
    return pc.binary_join_element_wise(*(rows[name] for name in columns), "\0")


def sha256_of(file: Path) -> str:
    """Return the digest of a file's bytes."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@contextmanager
def replacing(file: Path) -> Iterator[IO[bytes]]:
    """Write a file anew: it is whole, and on the disk, or as it was."""
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")  # others may write the same file
    with partial.open("wb") as opened:
        yield opened
        opened.flush()
        os.fsync(opened.fileno())
    partial.replace(file)
    fsync(file.parent)


def fsync(path: Path) -> None:
    """Have a file or a folder on the disk before what follows."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
