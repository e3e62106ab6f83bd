"""Backup of a home while it is in use; the backup is itself a home.

It also has backup.json, with the time when it was finished (null until then), and backup.lock, held while it is
written. Files of the lake never change, so copying the listed files and then the log gives a consistent snapshot;
files that the backup already has are not copied again.
"""

import fcntl
import json
import shutil
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from dropline.errors import DroplineError
from dropline.ingest import log
from dropline.ingest.lake import Lake
from dropline.ingest.loader import counted
from dropline.ingest.parquet import replacing
from dropline.ingest.verification import MARKER, Fault, batch_of, verify
from dropline.paths import Home
from dropline.progress import Progress, unseen

_LOCK: Final = "backup.lock"


def backup(home: Home, root: Path, *, progress: Progress = unseen) -> str:
    """Copy `home`, which may be in use, to `root`, sync and verify the copy, and return a sentence on its contents.

    Raise DroplineError if `root` holds anything but a backup of this home, cannot be written, or the copy is damaged.
    """
    copy = Home.chosen(root)
    if copy.root.resolve().is_relative_to(home.root.resolve()):
        message = f"{copy.root} is in the home itself, which holds something other than a backup: choose another folder"
        raise DroplineError(message)
    try:
        with _alone(copy):
            batches, copied = _copy(home, copy, progress)
            marker = copy.root / MARKER
            if faults := [fault for fault in verify(copy, progress=progress).faults if fault.path != marker]:
                lines = [f"{copy.root} was copied, but differs from what was first written:", *map(Fault.text, faults)]
                lines += [f"Type `dropline verify`: if {home.root} is intact, remove these files and back up again."]
                raise DroplineError("\n".join(lines))
            _mark(copy, finished=True)
    except OSError as error:
        message = f"The backup stopped: {error}. What was copied is kept: fix the problem and back up again."
        raise DroplineError(message) from error
    warehouse = "the published warehouse" if copy.warehouse.exists() else "no warehouse yet"
    held = f"{counted(batches, 'batch', 'batches')}, {copied} of them copied now, and {warehouse}"
    return f"{copy.root} holds {held}; verified. It is a home: dropline --home {copy.root} status"


@contextmanager
def _alone(copy: Home) -> Iterator[None]:
    """Lock the folder of a backup; raise DroplineError if it is not one, or another process writes to it."""
    there = {file.name for file in copy.root.iterdir()} if copy.root.exists() else set()
    begun = {name for name in there if name.startswith(f"{MARKER}.")}  # a marker that was killed while being written
    if MARKER not in there and there - begun - {_LOCK}:
        raise DroplineError(f"{copy.root} holds something other than a backup: choose a new or an empty folder")
    copy.root.mkdir(parents=True, exist_ok=True)
    with (copy.root / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DroplineError(f"another backup is being written to {copy.root}: wait until it has ended") from None
        yield


def _mark(copy: Home, *, finished: bool) -> None:
    content = {"finished_at": datetime.now(UTC).isoformat(timespec="seconds") if finished else None}
    with replacing(copy.root / MARKER) as file:
        file.write(json.dumps(content).encode() + b"\n")


def _copy(home: Home, copy: Home, progress: Progress) -> tuple[int, int]:
    """Copy the files, then the log; return the number of batches and how many of them are new."""
    source = Lake(home.lake)
    with ExitStack() as stack:
        # Opened before the lake is listed, so that the list includes every batch the warehouse was built from.
        warehouse = stack.enter_context(home.warehouse.open("rb")) if home.warehouse.exists() else None
        stack.enter_context(source.reading())
        logged = log.names(home.lake / "log")
        if not (entries := source.entries(logged)):
            raise DroplineError(f"{home.root} has no lake, so there is nothing to back up: choose a home with --home")
        for name in log.names(copy.lake / "log"):
            own, other = (each.lake / "log" / name for each in (home, copy))
            if not own.exists() or own.read_bytes() != other.read_bytes():
                raise DroplineError(f"{other} is not a commit of {home.root}: choose another folder")
        _mark(copy, finished=False)
        target = Lake.create(copy.lake)
        batches, there = [batch for entry in entries for batch in entry.batches], {*target.batches()}
        for done, entry in enumerate(entries):
            progress(done, len(entries))
            for part in entry.files.values():
                _copy_file(home.lake / part.path, copy.lake / part.path)
        for name in logged:
            _copy_file(home.lake / "log" / name, copy.lake / "log" / name)
        target.sweep()
        if warehouse:
            with replacing(copy.warehouse) as file:
                shutil.copyfileobj(warehouse, file, 1024 * 1024)
        _copy_quality(home.quality, copy.quality, batches)
    return len(batches), len({*batches} - there)


def _copy_file(file: Path, place: Path) -> None:
    if place.exists() and place.stat().st_size == file.stat().st_size:
        return
    place.parent.mkdir(exist_ok=True)
    with file.open("rb") as opened, replacing(place) as copied:
        shutil.copyfileobj(opened, copied, 1024 * 1024)


def _copy_quality(source: Path, target: Path, batches: Collection[str]) -> None:
    shutil.rmtree(target, ignore_errors=True)
    (target / "findings").mkdir(parents=True)
    about = {*batches, "00000000-empty"}
    findings = (file for file in source.glob("findings/lake-*.parquet") if batch_of(file) in about)
    for file in (source / "gate.json", *findings):
        with suppress(FileNotFoundError):
            _copy_file(file, target / file.relative_to(source))
