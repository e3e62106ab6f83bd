"""Log of the lake: numbered entries, each of which commits immutable Parquet files.

An entry, log/00000012.json, is in force until another replaces it. Its files (files/<batch>-<x>/<table>.parquet) have
the rows of its batches: its own one or, for a compaction, those of all entries that it replaces.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple, Self

from dropline.errors import DroplineError

_NAME: Final = re.compile(r"[0-9]{8}\.json")
_PATH: Final = re.compile(r"files/[0-9A-Za-z][0-9A-Za-z-]*/[a-z_]+\.parquet")  # a bucket's log is untrusted


class DamagedEntry(DroplineError):
    """An entry of the log differs from what was written."""


class Part(NamedTuple):
    """A Parquet file as it was written; its path is relative to the lake."""

    path: str
    rows: int
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One commit."""

    number: int
    batches: tuple[str, ...]  # batches whose rows are in the files, oldest first
    files: Mapping[str, Part]  # file of each table that has rows
    replaces: tuple[int, ...] = ()  # numbers of the entries that it replaces

    @property
    def name(self) -> str:
        """Name of its file in the log."""
        return f"{self.number:08}.json"

    @property
    def folder(self) -> str:
        """Name of the folder with its files, empty if it has none."""
        return next((Path(part.path).parent.name for part in self.files.values()), "")

    def written(self) -> bytes:
        """Return the entry as JSON."""
        body = {
            "batches": list(self.batches),
            "files": {table: part._asdict() for table, part in self.files.items()},
            "replaces": list(self.replaces),
        }
        return json.dumps(body | {"sha256": _digest_of(body)}, indent=1).encode() + b"\n"

    @classmethod
    def read(cls, name: str, data: bytes) -> Self:
        """Parse the entry in the file `name`; raise DamagedEntry if it is invalid."""
        try:
            body = json.loads(data)
            digest, files = body.pop("sha256"), {table: Part(**part) for table, part in body["files"].items()}
            if digest != _digest_of(body) or not all(_PATH.fullmatch(part.path) for part in files.values()):
                raise ValueError(name)
            return cls(int(name[:8]), tuple(body["batches"]), files, tuple(body["replaces"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DamagedEntry(f"{name} differs from what was written") from error


def names(log: Path) -> list[str]:
    """Return the names of all entries, oldest first."""
    return sorted(filter(_NAME.fullmatch, os.listdir(log))) if log.is_dir() else []  # noqa: PTH208 - thousands of them


def read(log: Path) -> list[Entry]:
    """Return the entries in force, in the order of their batches; raise DamagedEntry or OSError."""
    return in_force(entry(log / name) for name in names(log))


def entry(file: Path) -> Entry:
    """Read one entry of a log; raise DamagedEntry or OSError."""
    found = file.stat()
    return _entry(str(file), found.st_ino, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=100_000)
def _entry(file: str, *_: int) -> Entry:
    return Entry.read(Path(file).name, Path(file).read_bytes())


def in_force(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries that have batches and are not replaced, in the order of the batches."""
    every = [*entries]
    gone = {number for each in every for number in each.replaces}
    return sorted((each for each in every if each.batches and each.number not in gone), key=lambda e: e.batches[0])


def _digest_of(body: object) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
