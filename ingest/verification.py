"""Verification of a home, byte by byte and row by row."""

import json
import os
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import duckdb

from dropline.ingest import log, views
from dropline.ingest.lake import Lake
from dropline.ingest.loader import counted, printable
from dropline.ingest.log import DamagedEntry, Entry
from dropline.ingest.parquet import reason, sha256_of
from dropline.paths import Home
from dropline.progress import Progress, unseen
from dropline.quoting import quoted

MARKER: Final = "backup.json"  # marks a home as a backup: ingest/backup.py

_ADVICE: Final = "type `dropline verify --set-aside`, or put the file back from a backup"
_AGAIN: Final = "type `dropline verify --set-aside`, then ingest its files again"
_SHOWN: Final = 3  # names listed per fault


class Fault(NamedTuple):
    """A fault of a file, what to do about it and, for a file of the lake, the entry that names it."""

    path: Path
    reason: str
    advice: str
    entry: str = ""

    def text(self) -> str:
        """Return the fault in two lines."""
        return f"{self.path}: {self.reason}\n    -> {self.advice}"


@dataclass(slots=True)
class Verified:
    """Result of one `verify`."""

    batches: int = 0  # number of batches checked
    faults: list[Fault] = field(default_factory=list)
    set_aside: list[Path] = field(default_factory=list)  # folders that damaged files were moved to

    def text(self) -> str:
        """Return the result as text: each fault with its file and remedy, then the total."""
        lines = [fault.text() for fault in self.faults]
        lines += [f"set aside  {place}: ingest its files again, then build" for place in self.set_aside]
        faults = counted(len(self.faults), "fault", "faults") if self.faults else "no faults"
        return "\n".join(map(printable, [*lines, f"{counted(self.batches, 'batch', 'batches')} verified, {faults}"]))


def verify(home: Home, *, set_aside: bool = False, progress: Progress = unseen) -> Verified:
    """Read everything in `home` and report where it differs from what was written; ingests and builds may run.

    With `set_aside`, damaged batches are taken out of force and moved to lake/damaged.
    """
    lake, result = Lake(home.lake), Verified()
    with lake.reading():
        entries, result.faults = _entries(home.lake / "log")
        if not (home.lake / "log").is_dir():
            result.faults.append(Fault(home.lake, "there is no lake", "choose a home with --home"))
        for entry in entries:
            progress(result.batches, len(entries))
            result.batches += len(entry.batches)
            result.faults += faults(home.lake, entry) or list(_contradictions(home.lake, entry))
    result.faults += _around(home, {batch for entry in entries for batch in entry.batches})
    if set_aside:
        for name in dict.fromkeys(fault.entry for fault in result.faults if fault.entry):
            result.set_aside += _set_aside(lake, name, {entry.name: entry for entry in entries}.get(name))
    return result


def damaged(lake: Lake) -> list[Fault]:
    """Return the faults of the files in force, by their SHA-256."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return [*chain.from_iterable(threads.map(partial(faults, lake.root), lake.entries()))]


def faults(root: Path, entry: Entry) -> list[Fault]:
    """Return the faults of the files of one entry of the lake at `root`."""
    parts = ((root / part.path, part) for part in entry.files.values())
    wrong = ((file, _wrong(file, part.sha256, part.size_bytes)) for file, part in parts)
    return [Fault(file, reason, _ADVICE, entry.name) for file, reason in wrong if reason]


def _wrong(file: Path, sha256: str, written_bytes: int | None = None) -> str:
    """Return how a file differs from the written digest (empty if unknown) and size; empty if it does not."""
    try:
        size_bytes = file.stat().st_size
        if written_bytes not in {None, size_bytes}:
            return f"{size_bytes:,} bytes, where {written_bytes:,} were written"
        is_same = sha256 in {"", sha256_of(file)}
        return "" if is_same else "its bytes are not those that were written: the SHA-256 differs"
    except OSError as error:
        return reason(error)


def _entries(folder: Path) -> tuple[list[Entry], list[Fault]]:
    read: list[Entry] = []
    wrong: list[Fault] = []
    for name in log.names(folder):
        try:
            read.append(log.entry(folder / name))
        except (DamagedEntry, OSError) as error:
            wrong.append(Fault(folder / name, reason(error), _ADVICE, name))
    return log.in_force(read), wrong


def _set_aside(lake: Lake, name: str, entry: Entry | None) -> Iterator[Path]:
    """Take an entry out of force, and yield the new place of its files; if a bucket has it, fetch it again."""
    if lake.bucket():  # the bucket has undamaged copies
        for path in [part.path for part in entry.files.values()] if entry else [f"log/{name}"]:
            (lake.root / path).unlink(missing_ok=True)
        lake.pull()
        return
    aside = lake.root / "damaged"
    aside.mkdir(exist_ok=True)
    place = lake.root / "files" / entry.folder if entry else lake.root / "log" / name
    if not entry or lake.replace([entry], (), {}):
        place.rename(aside / place.name)
        yield aside / place.name


def _contradictions(root: Path, entry: Entry) -> Iterator[Fault]:
    wrong: dict[str, list[str]] = defaultdict(list)
    with views.opened({table: [root / part.path] for table, part in entry.files.items()}) as connection:
        found = connection.execute(views.sql("contradictions"), {"batches": list(entry.batches)})
        for table, reason in found.fetchall():
            wrong[table].append(reason)
    for table, reasons in wrong.items():
        more = f" and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
        named = root / "files" / entry.folder / f"{table}.parquet"
        yield Fault(named, "; ".join(reasons[:_SHOWN]) + more, _AGAIN, entry.name)


def _around(home: Home, batches: Iterable[str]) -> Iterator[Fault]:
    # Read the log last: meanwhile a build or the gate may have processed new commits.
    findings = sorted((home.quality / "findings").glob("lake-*.parquet"))
    built = yield from _warehouse(home.warehouse)
    later = _entries(home.lake / "log")[0]
    known = {"00000000-empty", *batches, *(batch for entry in later for batch in entry.batches)}
    for file in findings:
        if (reason := _wrong(file, file.stem.partition(".")[2])) and file.exists():  # a build may have removed it
            yield Fault(file, reason, "remove it; the next `dropline build` checks its batch again")
        if (batch := batch_of(file)) not in known:
            yield Fault(file, f"findings of batch {batch}, which is gone", "the next `dropline build` removes it")
    if gone := [batch for batch in built if batch not in known]:
        reason = f"built from {len(gone)} batches that are gone, first {gone[0]}"
        yield Fault(home.warehouse, reason, "type `dropline build` to publish it again")
    yield from _backup(home.root / MARKER)


def batch_of(findings: Path) -> str:
    """Return the batch of a file of findings; see expectations/gate.py."""
    return findings.name.removeprefix("lake-").partition(".")[0]


def _warehouse(file: Path) -> Generator[Fault, None, list[str]]:
    """Read every column of the published warehouse; return the batches it was built from."""
    built: list[str] = []
    if not file.exists():
        return built
    try:
        with duckdb.connect() as connection:
            # Attach the file instead of connecting to it, as this process may have it open with other settings.
            connection.execute(f"attach {quoted(file)} as warehouse (read_only)")
            names = "select table_name from duckdb_tables() where database_name = 'warehouse'"
            for (name,) in connection.execute(names).fetchall():
                connection.execute(f'select bit_xor(hash(rows)) from warehouse."{name}" as rows')  # noqa: S608 - ours
            [(built,)] = connection.execute("select lake_batches from warehouse.build_info").fetchall()
    except duckdb.Error as error:
        yield Fault(file, f"cannot be read ({str(error).splitlines()[0]})", "type `dropline build` to publish it again")
    return built


def _backup(marker: Path) -> Iterator[Fault]:
    try:
        finished = bool(json.loads(marker.read_text("utf-8"))["finished_at"])
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError):
        finished = False
    if not finished:
        yield Fault(marker, "this backup was not finished", "type `dropline backup` with the same folder again")
