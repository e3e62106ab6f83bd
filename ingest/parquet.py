"""Parquet files of the lake, written once, and synced and hashed before the commit."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dropline.errors import DroplineError
from dropline.ingest.log import DamagedEntry, Part
from dropline.ingest.schema import TABLES

GROUP_BYTES: Final = 4 * 1024 * 1024  # of a row group in memory
GROUP_ROWS: Final = 122_880  # DuckDB's row group size
# Arrow's errors for invalid or damaged Parquet; invalid text is noticed only when it is decoded.
UNREADABLE: Final = (pa.ArrowException, OSError, ValueError, KeyError)


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Convert Arrow's errors about a damaged file to a DroplineError that names it."""
    try:
        yield
    except (*UNREADABLE, DamagedEntry) as error:
        rest = "`dropline verify --set-aside` lets everything else work again."
        message = f"{file}: {reason(error)}. Type `dropline verify` to see what is damaged; {rest}"
        raise DroplineError(message) from error


def reason(error: BaseException) -> str:
    """Return why a file cannot be read, in one line."""
    if isinstance(error, FileNotFoundError):
        return "is missing"
    lines = str(getattr(error, "strerror", None) or error).strip().splitlines()
    return f"cannot be read ({lines[0] if lines else type(error).__name__})"


class TableFile:
    """An unfinished Parquet file of one table, which collects rows: metadata of small groups would outweigh them."""

    def __init__(self, folder: Path, table: str) -> None:
        schema = TABLES[table]
        self._file = folder / f"{table}.parquet"
        self._rows = 0
        self._waiting: list[pa.Table] = []
        self._waiting_rows = self._waiting_bytes = 0  # running totals, as a group may have very many parts
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
        """Finish and sync the file; return its metadata."""
        if self._waiting:
            self._write_group()
        self._parquet.close()
        fsync(self._file)
        return Part("/".join(self._file.parts[-3:]), self._rows, self._file.stat().st_size, sha256_of(self._file))

    def abandon(self) -> None:
        """Close an unwanted file; flushing its rest may fail for lack of space."""
        with suppress(OSError, pa.ArrowException):
            self._parquet.close()
        self._parquet.is_open = False  # or the destructor would try again


def _text_leaves(field: pa.Field) -> list[str]:
    """Return the Parquet columns that hold a field's text, which often repeats, unlike numbers and contents."""
    if pa.types.is_string(field.type):
        return [field.name]
    of_list = ["list.element"] if pa.types.is_list(field.type) else []
    leaves = ["key_value.key", "key_value.value"] if pa.types.is_map(field.type) else of_list
    return [f"{field.name}.{leaf}" for leaf in leaves]


def row_groups(file: Path, table: str) -> Iterator[pa.Table]:
    """Yield the row groups of a file, in the current columns of its table."""
    with naming(file), pq.ParquetFile(file) as parquet:
        for group in range(parquet.num_row_groups):
            yield widened(parquet.read_row_group(group), TABLES[table])


def plain(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return the values of a column as Python objects, with times as numbers in their unit since 1970."""
    values: list[Any] = (column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column).to_pylist()
    return values


def widened(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return `rows` with the columns of `schema`; columns that an older version did not write are null."""
    return pa.concat_tables([schema.empty_table(), rows], promote_options="default").select(schema.names).cast(schema)


def keyed(keys: Iterable[Sequence[str]]) -> pa.Array:
    """Return keys for `belonging`."""
    return pa.array(["\0".join(key) for key in keys], pa.string())


def row_keys(rows: pa.Table, columns: Sequence[str]) -> pa.ChunkedArray:
    """Return the key of each row; null if one of its parts is."""
    return pc.binary_join_element_wise(*(rows[name] for name in columns), "\0")


def belonging(rows: pa.Table, files: pa.Array, trials: pa.Array, *further: str) -> pa.Array:
    """Return which rows belong to these files (by campaign, path and `further` columns) or trials (by id)."""
    found = pa.repeat(pa.scalar(False), rows.num_rows)
    for columns, known in ((("campaign", "source_path", *further), files), (("trial_id", *further), trials)):
        if {*columns} <= {*rows.column_names}:
            found = pc.or_(found, pc.is_in(row_keys(rows, columns), value_set=known))
    return found


def sha256_of(file: Path) -> str:
    """Return the digest of a file's bytes."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@contextmanager
def replacing(file: Path) -> Iterator[IO[bytes]]:
    """Replace a file atomically and sync it."""
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")  # other processes may write the same file
    with partial.open("wb") as opened:
        yield opened
        opened.flush()
        os.fsync(opened.fileno())
    partial.replace(file)
    fsync(file.parent)


def fsync(path: Path) -> None:
    """Sync a file or a folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
