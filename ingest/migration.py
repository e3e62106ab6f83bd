"""Migration of homes without a log: each old-style batch, a folder with a manifest, becomes an entry."""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from dropline.errors import DroplineError
from dropline.ingest.log import Entry, Part
from dropline.ingest.parquet import fsync, naming, replacing, sha256_of

_NAME: Final = re.compile(r"([0-9]{8,18})-(?:([0-9]{8,18})-compacted(?:[0-9a-f]{8})?|[0-9A-Za-z]+)")
_SHARE: Final = 10**10  # in shared homes, ten random digits follow the eight digits of the number
_EMPTY: Final = "00000000-empty"


def migrate(root: Path) -> None:
    """Give the lake at `root` a log if it has old-style batches; if killed, the next call completes it."""
    old, ready = root / "batches", root / "log.ready"
    if not (old.is_dir() or ready.is_dir()):
        return
    with (root / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if old.is_dir():
            _write(root, ready)
            old.rename(root / "files")
            fsync(root)
        if ready.is_dir():
            ready.rename(root / "log")
            fsync(root)
        shutil.rmtree(root / "staging", ignore_errors=True)


def _write(root: Path, ready: Path) -> None:
    """Write the entries of all batches, including those not yet pushed to a bucket."""
    if (outbox := root / "outbox").is_dir():
        for waiting in outbox.iterdir():
            waiting.rename(root / "batches" / waiting.name)
        outbox.rmdir()
    fresh = root / "log.fresh"
    for folder in (fresh, ready):
        shutil.rmtree(folder, ignore_errors=True)
    fresh.mkdir()
    folders = [root / "batches" / name for name in _current(os.listdir(root / "batches"))]  # noqa: PTH208 - names
    numbers = (_span(folder.name)[1] for folder in folders)
    last = max((number // _SHARE or number for number in numbers), default=0)
    for number, folder in enumerate(folders, max(1, last - len(folders) + 1)):
        entry = _entry(number, folder)
        with replacing(fresh / entry.name) as file:
            file.write(entry.written())
    fresh.rename(ready)


def _current(names: list[str]) -> Iterator[str]:
    end = -1
    for name in sorted(filter(_NAME.fullmatch, names), key=lambda name: (_span(name)[0], -_span(name)[1], name)):
        first, last = _span(name)
        if last > end and name != _EMPTY:
            yield name
        if first < last:
            end = max(end, last)


def _entry(number: int, folder: Path) -> Entry:
    """Return the entry of a batch from its manifest, or from its files if an older version wrote none."""
    batches: tuple[str, ...] = (folder.name,)
    advice = f"put it back from a backup, or move {folder} elsewhere"
    if (manifest := folder / "manifest.json").exists():
        try:
            content = json.loads(manifest.read_bytes())
            batches = tuple(batch for batch in content["commits"] if batch != _EMPTY)
            files = {
                table: Part(f"files/{folder.name}/{table}.parquet", part["rows"], part["size_bytes"], part["sha256"])
                for table, part in content["tables"].items()
            }
        except (ValueError, KeyError, TypeError) as error:
            raise DroplineError(f"{manifest} differs from what was written: {advice}") from error
    elif len(set(_span(folder.name))) > 1:
        raise DroplineError(f"{manifest} is missing: {advice}")
    else:
        files = {}
        for file in sorted(folder.glob("*.parquet")):
            with naming(file):
                rows = pq.read_metadata(file).num_rows
            size_bytes, sha256 = file.stat().st_size, sha256_of(file)
            files[file.stem] = Part(f"files/{folder.name}/{file.name}", rows, size_bytes, sha256)
    return Entry(number, batches, {table: part for table, part in files.items() if part.rows})


def _span(name: str) -> tuple[int, int]:
    match = _NAME.fullmatch(name)
    return (int(match[1]), int(match[2] or match[1])) if match else (-1, -1)
