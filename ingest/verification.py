"""Verification: whether a home holds, byte for byte and row for row, what was once written into it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dropline.ingest.batches import (
    MANIFEST,
    DamagedFile,
    Fault,
    Manifest,
    batch_of,
    commits_of,
    digest_of,
    faults,
    joined,
    measured,
    naming,
    sha256_of,
)
from dropline.ingest.intake import printable
from dropline.ingest.lake import Lake
from dropline.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from pathlib import Path

    from dropline.paths import Home

MARKER: Final = "backup.json"  # in a home that is a backup: ingest/backup.py

_OF_FILES: Final = ("campaign", "source_path", "batch")
_OF_TRIALS: Final = ("trial_id", "batch")
_OF_RAW: Final = (*_OF_FILES, "size_bytes", "sha256", "trials", "content")
_AGAIN: Final = "type `dropline verify --set-aside`, then ingest its files again"
_SHOWN: Final = 3  # names in one fault


@dataclass(slots=True)
class Verified:
    """What one `verify` found.

    Attributes:
        batches: how many batches were looked at.
        faults: what is wrong, with what to do.
        unvouched: batches without a manifest: they can be read, but nothing says that they are what was written.
        adopted: batches that were given a manifest by what they hold now.
        set_aside: where damaged batches lie now.

    """

    batches: int = 0
    faults: list[Fault] = field(default_factory=list)
    unvouched: list[str] = field(default_factory=list)
    adopted: list[str] = field(default_factory=list)
    set_aside: list[Path] = field(default_factory=list)

    def text(self) -> str:
        """Return the outcome for people: each fault with its file and what to do, then the sum."""
        lines = [fault.text() for fault in self.faults]
        lines += [f"set aside  {folder}: ingest its files again, then build" for folder in self.set_aside]
        if self.unvouched:
            lines.append(
                f"{len(self.unvouched)} batches can be read, but nothing vouches for them, as an older version wrote "
                "them: `dropline verify --adopt` takes them as they are"
            )
        if self.adopted:
            lines.append(f"{len(self.adopted)} batches are vouched for from now on, as they are")
        lines.append(f"{self.batches} batches verified, {len(self.faults) or 'no'} faults")
        return "\n".join(map(printable, lines))


def verify(
    home: Home,
    *,
    set_aside: bool = False,
    adopt: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> Verified:
    """Read everything that `home` holds and say what is not as it was written; ingests and builds may go on.

    Every file of every batch is held against its manifest (size, SHA-256, rows), every kept raw file against its own
    SHA-256, rows against the trials and files that they belong to, the published warehouse against the lake. With
    `set_aside` damaged batches are moved out of the lake, whole; with `adopt` readable batches of old get a manifest.
    `progress` is called with (done, total, batch) before each batch.
    """
    lake, told = Lake(home.lake), Verified()
    with lake.reading():
        batches = lake.batches()
        for batch in batches:
            if progress:
                progress(told.batches, len(batches), batch)
            told.batches += 1
            folder = lake.folder(batch)
            found = faults(folder, thorough=True) or list(_contradictions(folder))
            told.faults += found
            if not found and not (folder / MANIFEST).exists():
                told.unvouched.append(batch)
                if adopt:
                    _adopt(folder)
    if adopt:
        told.adopted, told.unvouched = told.unvouched, []
    told.faults += [*_around(home, lake)]
    if set_aside:
        told.set_aside = [lake.set_aside(batch) for batch in dict.fromkeys(f.batch for f in told.faults) if batch]
    return told


def _adopt(folder: Path) -> None:
    Manifest((folder.name,), {file.stem: measured(file) for file in sorted(folder.glob("*.parquet"))}).write(folder)


def _contradictions(folder: Path) -> Iterator[Fault]:
    """Yield what does not add up in a batch whose files are what was written."""
    told: dict[str, list[str]] = {}
    try:
        told["raw_files"], counted = _raw_files(folder / "raw_files.parquet", {*commits_of(folder)})
        with naming(file := folder / "trials.parquet"):
            trials = pq.read_table(file, columns=[*_OF_FILES, "trial_id"], partitioning=None)
        told["trials"] = _miscounted(counted, trials)
        for table in ("exchanges", "intervals", "observations"):
            if (file := folder / f"{table}.parquet").exists():
                told[table] = _orphans(file, trials, list(counted))
    except DamagedFile as error:
        yield Fault(folder, str(error), _AGAIN, folder.name)
    for table, reasons in told.items():
        if reasons:
            more = f" and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
            yield Fault(folder / f"{table}.parquet", "; ".join(reasons[:_SHOWN]) + more, _AGAIN, folder.name)


def _raw_files(file: Path, commits: set[str]) -> tuple[list[str], dict[tuple[str, ...], int | None]]:
    """Return what is wrong with the kept bytes, and how many trials each file says that it has."""
    wrong: list[str] = []
    counted: dict[tuple[str, ...], int | None] = {}
    with naming(file), pq.ParquetFile(file) as parquet:
        for group in range(parquet.num_row_groups):
            rows = parquet.read_row_group(group, columns=_OF_RAW)
            plain = zip(*(rows[name].to_pylist() for name in _OF_RAW[:-1]), strict=True)
            for (campaign, path, batch, size, sha256, trials), content in zip(plain, rows["content"], strict=True):
                counted[campaign, path, batch] = trials
                if batch not in commits:
                    wrong.append(f"{campaign}: {path} is of batch {batch}")
                elif content.is_valid and (content.as_buffer().size, _sha256(content)) != (size, sha256):
                    wrong.append(f"the kept bytes of {campaign}: {path} are not those of its SHA-256")
    return wrong, counted


def _sha256(content: pa.BinaryScalar) -> str:
    return hashlib.sha256(content.as_buffer()).hexdigest()


def _miscounted(counted: dict[tuple[str, ...], int | None], trials: pa.Table) -> list[str]:
    held = Counter(zip(*(trials[name].to_pylist() for name in _OF_FILES), strict=True))
    wrong = [f"{campaign}: {path} has trials and no raw file" for campaign, path, _ in held.keys() - counted.keys()]
    for key, said in counted.items():
        if said is not None and said != held[key]:
            wrong.append(f"{key[0]}: {key[1]} has {held[key]} trials, and raw_files says {said}")
    return wrong


def _orphans(file: Path, trials: pa.Table, files: Sequence[tuple[str, ...]]) -> list[str]:
    """Return how many rows have a trial, or a file of their own, that the batch does not hold."""
    known_trials = joined(trials, _OF_TRIALS)
    known_files = pa.array(["\0".join(key) for key in files], pa.string())
    of_nobody = 0
    with naming(file), pq.ParquetFile(file) as parquet:
        columns = [name for name in (*_OF_TRIALS, *_OF_FILES[:2]) if name in parquet.schema_arrow.names]
        for group in range(parquet.num_row_groups):
            rows = parquet.read_row_group(group, columns=columns)
            known = pc.is_in(joined(rows, _OF_TRIALS), value_set=known_trials)
            if "source_path" in columns:
                alone = pc.is_null(rows["trial_id"])
                own = pc.is_in(joined(rows, _OF_FILES), value_set=known_files)
                known = pc.or_(known, pc.and_(alone, pc.or_(own, pc.is_null(rows["source_path"]))))
            of_nobody += rows.num_rows - pc.sum(known).as_py() if rows.num_rows else 0
    return [f"{of_nobody} rows belong to no trial and no file of the batch"] if of_nobody else []


def _around(home: Home, lake: Lake) -> Iterator[Fault]:
    """Yield what is wrong beside the batches: findings, the warehouse, the marker of a backup."""
    # The lake is looked at last: a build may have published, and the gate checked, what was committed meanwhile.
    findings = sorted((home.quality / "findings").glob("lake-*.parquet"))
    built = yield from _warehouse(home.warehouse)
    known = {"00000000-empty"}
    for batch in lake.batches():
        try:
            known |= {batch, *commits_of(lake.folder(batch))}
        except DamagedFile:  # told before
            continue
    for file in findings:
        if reason := _altered(file):
            yield Fault(file, reason, "remove it; the next `dropline build` checks its batch again")
        if (batch := batch_of(file)) not in known:
            yield Fault(file, f"findings of batch {batch}, which is gone", "the next `dropline build` removes it")
    if gone := [batch for batch in built if batch not in known]:
        reason = f"built from {len(gone)} batches that are gone, first {gone[0]}"
        yield Fault(home.warehouse, reason, "type `dropline build` to publish it anew")
    yield from _backup(home.root / MARKER)


def _altered(findings: Path) -> str:
    """Say what is wrong with a file of findings; a build removes those that it replaces."""
    try:
        same = digest_of(findings) in {"", sha256_of(findings)}
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "" if same else "its bytes are not those that were written: the SHA-256 differs"


def _warehouse(file: Path) -> Generator[Fault, None, list[str]]:
    """Read every column of the published warehouse; return the batches that it was built from."""
    built: list[str] = []
    if not file.exists():
        return built
    try:
        with duckdb.connect() as connection:
            # Attached, not connected: this process may hold the file open with other settings.
            connection.execute(f"attach {quoted(file)} as warehouse (read_only)")
            names = "select table_name from duckdb_tables() where database_name = 'warehouse'"
            for (name,) in connection.execute(names).fetchall():
                connection.execute(f'select bit_xor(hash(rows)) from warehouse."{name}" as rows')  # noqa: S608 - ours
            rows = connection.execute("select unnest(lake_batches) from warehouse.build_info").fetchall()
            built = [batch for (batch,) in rows]
    except duckdb.Error as error:
        yield Fault(file, f"cannot be read ({str(error).splitlines()[0]})", "type `dropline build` to publish it anew")
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
