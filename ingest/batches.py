"""What a batch is on disk: a name with its numbers, one Parquet file a table, a manifest that vouches for them.

    00000012-20261120T134501Z/         one commit
    00000001-00000040-compacted/       the rows of all commits from number 1 to 40, in their order; in a lake that
                                       several machines write to, random letters of its own follow
        <table>.parquet
        manifest.json                  {"commits": [...], "tables": {"trials": {"rows": ..., ...}, ...}, "sha256": ...}

The `batch` column of every row names its commit, wherever the row lies. Nothing here writes into a batch that readers
see, except `Manifest.write` for one that was committed before there were manifests.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dropline.errors import DroplineError
from dropline.ingest.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

MANIFEST: Final = "manifest.json"
GROUP_BYTES: Final = 4 * 1024 * 1024  # of a row group, as it lies in memory
GROUP_ROWS: Final = 122_880  # as DuckDB's own row groups

# In a lake that several machines write to, ten random digits follow the eight that are counted: see `following`.
_SHARE: Final = 10**10
_NAME: Final = re.compile(r"([0-9]{8,18})-(?:([0-9]{8,18})-compacted(?:[0-9a-f]{8})?|[0-9A-Za-z]+)")
# What Arrow raises on bytes that are no Parquet, or no longer; a broken text only shows when it is decoded.
_UNREADABLE: Final = (pa.ArrowException, OSError, ValueError, KeyError)
_ALWAYS_THERE: Final = ("raw_files", "trials")  # whatever version wrote the batch


class Fault(NamedTuple):
    """What is wrong with one file, and what to do about it."""

    path: Path
    reason: str
    advice: str
    batch: str = ""  # the batch that is damaged by it

    def text(self) -> str:
        """Return the fault in two lines."""
        return f"{self.path}: {self.reason}\n    -> {self.advice}"


class DamagedFile(DroplineError):
    """A file of the lake cannot be read, or is not what was written."""


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Turn what Arrow says of a damaged `file` into DamagedFile."""
    try:
        yield
    except _UNREADABLE as error:
        message = (
            f"{file}: {_reason(error)}. Type `dropline verify` to see what is damaged; "
            "`dropline verify --set-aside` lets everything else work again."
        )
        raise DamagedFile(message) from error


def span(name: str) -> tuple[int, int]:
    """Return the first and the last number that a batch stands for; (-1, -1) for a name that is none."""
    if not (match := _NAME.fullmatch(name)):
        return -1, -1
    return int(match[1]), int(match[2] or match[1])


def number(name: str) -> int:
    """Return the number of a batch, the last one of a compacted batch, -1 for a name that is none."""
    return span(name)[1]


def is_compacted(name: str) -> bool:
    """Say whether a batch stands for others."""
    first, last = span(name)
    return first < last


def within(name: str, other: str) -> bool:
    """Say whether all numbers of a batch are among those of another."""
    return span(other)[0] <= span(name)[0] and number(name) <= number(other)


def place(number: int) -> int:
    """Return how many numbers were counted up to this one; those of a shared lake have random digits behind that."""
    return number // _SHARE if number >= _SHARE else number


def digits(number: int) -> str:
    """Return a number as it stands in names: their order as text is that of the numbers."""
    return f"{number:08}" if number < _SHARE else f"{number:018}"


def counted_before(name: str) -> str:
    """Return the name of no batch: it stands after all that were counted before this one, and before all others."""
    return f"{digits(place(number(name)) * _SHARE - 1)}-before"


def following(number: int, *, shared: bool) -> int:
    """Return a number after `number`; of a `shared` lake one that nobody else takes at the same time."""
    return (place(number) + 1) * _SHARE + secrets.randbelow(_SHARE) if shared else number + 1


def compacted(batches: Sequence[str], *, shared: bool) -> str:
    """Return the name of a batch for the rows of others; of a `shared` lake one that nobody else takes."""
    own = secrets.token_hex(4) if shared else ""
    return f"{digits(span(batches[0])[0])}-{digits(number(batches[-1]))}-compacted{own}"


def arranged(folder: Path) -> tuple[list[str], list[str]]:
    """Return the batches in `folder`, oldest first, and those that a compacted one has replaced, which nobody reads."""
    return ordered(os.listdir(folder)) if folder.is_dir() else ([], [])  # noqa: PTH208 - thousands of them


def ordered(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return which of the names are batches, oldest first, and which a compacted one has replaced."""
    current: list[str] = []
    replaced: list[str] = []
    end = -1
    batches = filter(_NAME.fullmatch, names)
    for name in sorted(batches, key=lambda name: (span(name)[0], -span(name)[1], name)):
        last = number(name)
        (replaced if last <= end else current).append(name)
        if is_compacted(name):
            end = max(end, last)
    return current, replaced


def commits(folder: Path) -> dict[str, str]:
    """Return the batch in `folder` that holds each commit, in the order of the commits.

    Compaction changes the batches and never this list: what was built from which data goes by it.
    """
    return {commit: name for name in arranged(folder)[0] for commit in commits_of(folder / name)}


def commits_of(batch: Path) -> tuple[str, ...]:
    """Return the commits of one batch; raises DamagedFile for a compacted one without a sound manifest."""
    first, last = span(batch.name)
    if first == last:
        return (batch.name,)
    with naming(batch / MANIFEST):
        if manifest := Manifest.of(batch):
            return manifest.commits
        raise FileNotFoundError(MANIFEST)


class Part(NamedTuple):
    """One Parquet file as it was written."""

    size_bytes: int
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a batch consists of."""

    commits: tuple[str, ...]
    tables: Mapping[str, Part]

    def write(self, batch: Path) -> None:
        """Write the manifest; it is on the disk, whole, or not there."""
        body = self._body()
        with replacing(batch / MANIFEST) as file:
            file.write(json.dumps({**body, "sha256": _digest_of(body)}, indent=1).encode())

    @classmethod
    def of(cls, batch: Path) -> Manifest | None:
        """Return the manifest of a batch, None for one of old; raises DamagedFile when it is not what was written."""
        with naming(batch / MANIFEST):
            try:
                data = (batch / MANIFEST).read_bytes()
            except FileNotFoundError:
                return None
            return cls.read(data)

    @classmethod
    def read(cls, data: bytes) -> Manifest:
        """Return what the bytes of a manifest say; raises ValueError or KeyError when they are not what was written."""
        said = json.loads(data.decode())
        if not isinstance(said, dict) or said.pop("sha256", None) != _digest_of(said):
            message = "is not what was written"
            raise ValueError(message)
        return cls(tuple(said["commits"]), {name: Part(**part) for name, part in said["tables"].items()})

    def _body(self) -> dict[str, object]:
        return {"commits": list(self.commits), "tables": {name: part._asdict() for name, part in self.tables.items()}}


class TableFile:
    """The Parquet file of one table in the making; what the manifest says of it is found while it is written.

    Small parts are gathered into row groups of a decent size: what a writer has to remember of every group, and a
    reader to look at, is soon more than what is in a small one.
    """

    def __init__(self, folder: Path, table: str) -> None:
        schema = TABLES[table]
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
        """End the file and return what was written; may be called again."""
        if self._waiting:
            self._write_group()
        self._parquet.close()
        self._file.close()
        return Part(self._file.size_bytes, self._rows, self._file.sha256.hexdigest())

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
    """A file that is written from its beginning to its end, and digested on the way."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path, "w"))
        self.size_bytes = 0
        self.sha256 = hashlib.sha256()

    def write(self, data: bytes, /) -> int:  # type: ignore[override] # Arrow gives bytes and its own buffers
        self.sha256.update(data)
        self.size_bytes += len(data)
        return super().write(data)


def measured(file: Path) -> Part:
    """Return what a manifest would say of a Parquet file that is there; raises DamagedFile when it cannot be read."""
    with naming(file):
        return Part(file.stat().st_size, pq.read_metadata(file).num_rows, sha256_of(file))


def faults(batch: Path, *, thorough: bool = False) -> list[Fault]:
    """Return what is wrong with the files of a batch: missing, of another size, no Parquet, of other rows.

    A thorough look reads all bytes and compares their SHA-256; of a batch without a manifest, which nothing vouches
    for, it reads all rows.
    """
    found: list[tuple[str, str]] = []
    try:
        manifest = Manifest.of(batch)
        commits_of(batch)
    except DamagedFile as error:
        return [_fault(batch, MANIFEST, _reason(error.__cause__ or error))]
    first, last = span(batch.name)
    if manifest and not all(first <= number(commit) <= last for commit in manifest.commits):
        return [_fault(batch, MANIFEST, "it is that of another batch")]
    there = {file.stem for file in batch.glob("*.parquet")}
    written: dict[str, Part | None] = {**manifest.tables} if manifest else dict.fromkeys([*_ALWAYS_THERE, *there])
    for table, part in written.items():
        if reason := _wrong(batch / f"{table}.parquet", part, thorough=thorough):
            found.append((f"{table}.parquet", reason))
    found += [(f"{table}.parquet", "the manifest does not know it") for table in sorted(there - written.keys())]
    return [_fault(batch, name, reason) for name, reason in found]


def _wrong(file: Path, part: Part | None, *, thorough: bool) -> str:
    try:
        size_bytes = file.stat().st_size
        if part and size_bytes != part.size_bytes:
            return f"{size_bytes:,} bytes, where {part.size_bytes:,} were written"
        if part and thorough and sha256_of(file) != part.sha256:
            return "its bytes are not those that were written: the SHA-256 differs"
        with pq.ParquetFile(file) as parquet:
            rows = parquet.metadata.num_rows
            if thorough and not part:
                for group in range(parquet.num_row_groups):
                    parquet.read_row_group(group).validate(full=True)
    except _UNREADABLE as error:
        return _reason(error)
    return f"{rows:,} rows, where {part.rows:,} were written" if part and rows != part.rows else ""


def _fault(batch: Path, name: str, reason: str) -> Fault:
    return Fault(
        batch / name,
        reason,
        "type `dropline verify --set-aside`, or put the batch back from a backup",
        batch.name,
    )


def widened(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return `rows` in the columns of `schema`; what a batch of an older version lacks is null."""
    return pa.concat_tables([schema.empty_table(), rows], promote_options="default").select(schema.names).cast(schema)


def joined(rows: pa.Table, columns: Sequence[str]) -> pa.ChunkedArray:
    """Return the values of each row as one text, to look rows up by; null where one of them is."""
    return pc.binary_join_element_wise(*(rows[name] for name in columns), "\0")


def sha256_of(file: Path) -> str:
    """Return the digest of a file's bytes."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def batch_of(findings: Path) -> str:
    """Return the batch that a file of findings is about; see expectations/gate.py."""
    return findings.name.removeprefix("lake-").partition(".")[0]


def digest_of(findings: Path) -> str:
    """Return the SHA-256 that a file of findings must have, empty for one that an older version wrote."""
    return findings.stem.partition(".")[2]


@contextmanager
def replacing(file: Path) -> Iterator[IO[bytes]]:
    """Write a file anew: it is whole, and on the disk, or as it was."""
    partial = file.with_name(f"{file.name}.partial")
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


def _digest_of(body: object) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _reason(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError):
        return "is missing"
    lines = str(getattr(error, "strerror", None) or error).strip().splitlines()
    return f"cannot be read ({lines[0] if lines else type(error).__name__})"
