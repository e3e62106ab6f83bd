"""A home on object storage: a bucket that several machines share, and a folder of each machine that mirrors it.

    s3://bucket/folder/
        lake/batches/<batch>/<table>.parquet    as in a lake; nobody reads a batch without its manifest ...
        lake/batches/<batch>/manifest.json      ... which is put last
        publications/<time>-<digest>/...        a warehouse, and what the gate said of it
        published.json                          which of them is published, with sizes and digests

The mirror is a home in which everything works as in any other. `sync` brings both in step: it pulls what is missing,
verified, and pushes what is new. An ingest commits to the outbox, lake/outbox, as one rename; a batch of the outbox is
pushed, and then seen in the mirror. Killed at any instant, a push leaves nothing that readers see, and the next
`sync` completes it.

Nobody can lock a bucket, and nothing is renamed there. Batches carry numbers that nobody else takes, so that no push
overwrites another's. Where others have pushed since a batch was committed, it is committed again, after theirs and
without what they have brought as well. Two pushes that look at the same moment, before either has put its manifest, may
both bring a version of a file: all readers count the newest batch of a file only, so that no trial is seen twice.

A compacted batch goes the same way, by the outbox; what it replaces is removed a day later. It must hold all that lies
in its span of numbers, or readers would lose the rest. So whoever pushes puts everything but the manifest first, and
looks then: of two that are in each other's way one at least sees the other, whoever is first, and gives way. A commit
is committed again, with a number behind the span. A compaction is dropped, as it holds nothing that is not elsewhere.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb
import pyarrow.parquet as pq

from dropline import publication
from dropline.errors import DroplineError
from dropline.ingest.batches import (
    MANIFEST,
    DamagedFile,
    Manifest,
    arranged,
    commits_of,
    counted_before,
    fsync,
    is_compacted,
    naming,
    number,
    ordered,
    place,
    replacing,
    sha256_of,
    span,
    widened,
    within,
)
from dropline.ingest.bucket import Bucket, BucketUnusable
from dropline.ingest.lake import REREAD, Lake
from dropline.ingest.schema import TABLES
from dropline.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from dropline.ingest.batches import Part
    from dropline.ingest.bucket import Object
    from dropline.paths import Home

    Progress = Callable[[int, int, str], None]
    Listed = dict[str, dict[str, Object]]  # the objects of each batch, by the names of files

POLL_S: Final = 30.0
KEPT: Final = 3  # publications, as in a home

_BATCHES: Final = "lake/batches"
_PUBLICATIONS: Final = "publications"
_PUBLISHED: Final = "published.json"
_ABANDONED: Final = timedelta(days=1)  # no push takes that long; what is older and not whole was killed
_AT_ONCE: Final = 8  # batches that are pulled at the same time: most of it is waiting
_OWN: Final = "00000000-empty"  # which every lake makes for itself
_ADVICE: Final = (
    "Put the object back, from the mirror of a machine that has it. Or move the whole folder elsewhere in the bucket: "
    "all else works then, and the files of that batch can be ingested again"
)
_BUILD_AGAIN: Final = f"Remove {_PUBLISHED} from the bucket, and type `dropline build`"


class Damaged(DroplineError):
    """An object of the bucket is not what was put."""


class Identity(NamedTuple):
    """Which file it is: a publication replaces it, so that its inode and time change."""

    inode: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Published:
    """What `published.json` says: which publication, when it was built (UTC), the size and SHA-256 of its files."""

    name: str
    built_at: str
    files: Mapping[str, tuple[int, str]]

    @classmethod
    def of(cls, data: bytes | None) -> Published | None:
        """Read it; raises ValueError when it is not what was put."""
        if data is None:
            return None
        try:
            said = json.loads(data)
            files = {str(name): (int(size), str(sha256)) for name, (size, sha256) in said["files"].items()}
            return cls(str(said["name"]), str(said["built_at"]), files)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(str(error)) from error

    def written(self) -> bytes:
        """Return it as it is put."""
        return json.dumps(asdict(self), indent=1).encode() + b"\n"


def sync(home: Home, *, progress: Progress | None = None) -> list[str]:
    """Bring the mirror `home` and its bucket in step; return what people should know of it.

    `progress` is called with (done, total, batch) for each batch that is pulled or pushed.

    Raises:
        BucketUnusable: the bucket cannot be reached, read or written.
        Damaged: an object is not what was put; everything else was pulled.
        DamagedFile: a batch of the outbox is not what was written.
    """
    lake, bucket = Lake(home.lake), Bucket(home.address or "")
    with _alone(home, lake):
        listed = _listed(bucket)
        notes = _pull(bucket, lake, listed, progress)
        _sweep(bucket, lake, listed)
        Lake.create(lake.root)  # where an older version wrote the newest batch, one with all columns waits now
        notes += _push(bucket, lake, listed, progress)
        lake.sweep()
        _sync_warehouse(bucket, home)
    return notes


def push(home: Home, *, progress: Progress | None = None) -> list[str]:
    """Do as `sync` does when the mirror has something that the bucket has not; raises what `sync` raises."""
    waiting = arranged(Lake(home.lake).outbox)[0]
    return sync(home, progress=progress) if waiting or _identity(home) != _remembered(home)[1] else []


def follow(home: Home, say: Callable[[str], None], *, beside: int, poll_s: float = POLL_S) -> None:
    """Take over what is published within `poll_s` seconds, for as long as the parent of this process is `beside`.

    A look costs a request or two. What waits in the outbox is pushed, too. What goes wrong is said once, and tried
    again.
    """
    said = ""
    while os.getppid() == beside:
        try:
            if arranged(Lake(home.lake).outbox)[0] or _published(Bucket(home.address or "")) != _remembered(home)[0]:
                sync(home)
            said = ""
        except (DroplineError, OSError) as error:
            if str(error) != said:
                said = str(error)
                say(said)
        until = time.monotonic() + poll_s
        while os.getppid() == beside and time.monotonic() < until:
            time.sleep(min(1.0, poll_s))


def damaged(home: Home, *, progress: Progress | None = None) -> list[str]:
    """Read all that people see of the bucket of `home`, and return each object that is not what was put."""
    bucket = Bucket(home.address or "")
    batches, _ = ordered(_whole(_listed(bucket)))
    found: list[str] = []
    for done, batch in enumerate(batches):
        if progress:
            progress(done, len(batches), batch)
        try:
            tables = _manifest(bucket, batch).tables
        except Damaged as error:
            found.append(str(error))
            continue
        found += [
            f"{bucket.name(key)}: {reason}. {_ADVICE}"
            for table, part in tables.items()
            if (reason := _wrong(bucket, key := f"{_BATCHES}/{batch}/{table}.parquet", part.size_bytes, part.sha256))
        ]
    if published := _published(bucket):
        found += [
            f"{bucket.name(key)}: {reason}. {_BUILD_AGAIN}"
            for name, said in published.files.items()
            if (reason := _wrong(bucket, key := f"{_PUBLICATIONS}/{published.name}/{name}", *said))
        ]
    return found


@contextmanager
def _alone(home: Home, lake: Lake) -> Iterator[None]:
    """Make the folder a mirror, if it is none yet, and hold its lock."""
    home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    lake.outbox.mkdir(parents=True, exist_ok=True)
    with (home.root / "mirror.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        Lake.create(lake.root)  # every mirror has the batch without rows: the same batches everywhere
        yield


def _listed(bucket: Bucket) -> Listed:
    batches: Listed = {}
    for key, found in bucket.listing(_BATCHES).items():
        _, _, batch, *rest = key.split("/")
        if number(batch) >= 0 and len(rest) == 1:
            batches.setdefault(batch, {})[rest[0]] = found
    return batches


def _whole(listed: Listed) -> set[str]:
    return {batch for batch, files in listed.items() if MANIFEST in files}


def _pull(bucket: Bucket, lake: Lake, listed: Listed, progress: Progress | None) -> list[str]:
    """Fetch the batches that the mirror lacks, and set aside what is no longer in the bucket."""
    whole = _whole(listed)
    for batch in whole & {*arranged(lake.outbox)[0]}:  # pushed, and killed before it moved here
        _seen(lake, batch)
    seen, _ = ordered(whole)
    missing = [batch for batch in seen if not lake.folder(batch).exists()]
    faults = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        try:
            for done, fault in enumerate(pool.map(lambda batch: _fetch(bucket, lake, batch), missing), 1):
                if progress:
                    progress(done, len(missing), missing[done - 1])
                faults += [fault] if fault else []
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    if faults:
        raise Damaged("\n".join(faults))
    gone = [batch for batch in lake.batches() if batch not in whole and batch != _OWN]
    return [f"{batch} is gone from {bucket.address}; it lies in {lake.set_aside(batch)} now" for batch in gone]


def _fetch(bucket: Bucket, lake: Lake, batch: str) -> str | None:
    """Put a batch of the bucket into the mirror, whole; return what is wrong with it, if anything is."""
    with lake.staged() as stage:
        new = stage / batch
        new.mkdir()
        try:
            manifest = _manifest(bucket, batch)
        except Damaged as error:
            return str(error)
        for table, part in manifest.tables.items():
            file, key = new / f"{table}.parquet", f"{_BATCHES}/{batch}/{table}.parquet"
            if reason := _wrong(bucket, key, part.size_bytes, part.sha256, file):
                return f"{bucket.name(key)}: {reason}. {_ADVICE}"
            fsync(file)
        manifest.write(new)
        new.rename(lake.folder(batch))
        fsync(lake.folder(batch).parent)
    return None


def _manifest(bucket: Bucket, batch: str) -> Manifest:
    """Return the manifest of a batch in the bucket; raises Damaged."""
    key = f"{_BATCHES}/{batch}/{MANIFEST}"
    try:
        manifest = Manifest.read(bucket.get(key) or b"")
        first, last = span(batch)
        own = all(first <= number(commit) <= last for commit in manifest.commits)
        if not own or not all(re.fullmatch("[a-z_]+", table) for table in manifest.tables):
            raise ValueError(batch)
    except (ValueError, KeyError, TypeError) as error:
        message = f"{bucket.name(key)}: it is not what was put. {_ADVICE}"
        raise Damaged(message) from error
    return manifest


def _wrong(bucket: Bucket, key: str, size_bytes: int, sha256: str, file: Path | None = None) -> str:
    """Read an object, into `file` if there is one, and say what is wrong with it."""
    try:
        found = bucket.download(key, file)
    except FileNotFoundError:
        return "is missing"
    if found[0] != size_bytes:
        return f"{found[0]:,} bytes, where {size_bytes:,} were put"
    return "" if found[1] == sha256 else "its bytes are not those that were put: the SHA-256 differs"


def _push(bucket: Bucket, lake: Lake, listed: Listed, progress: Progress | None) -> list[str]:
    done, notes = 0, list[str]()
    while waiting := arranged(lake.outbox)[0]:
        batch = waiting[0]
        if progress:
            progress(done, done + len(waiting), batch)
        # What a killed push left may be about to be swept by others: nothing is put under that name again.
        late = batch in listed or _late(lake, batch)
        if not late and _put(bucket, lake, batch):
            _seen(lake, batch)
            done += 1
        elif is_compacted(batch):
            if batch in listed:
                bucket.remove(f"{_BATCHES}/{batch}")
            _discard(lake, batch)
            notes.append(f"{batch}, a compaction, was given up and changed nothing: repeat `dropline compact`")
        else:
            if not late:  # who is in the way came after the listing
                listed = _listed(bucket)
                notes += _pull(bucket, lake, listed, progress)
            _commit_again(lake, batch)
    return notes


def _late(lake: Lake, batch: str) -> bool:
    """Return whether others have pushed since a batch was committed; to a compacted one it makes no difference."""
    return not is_compacted(batch) and any(place(number(other)) >= place(number(batch)) for other in lake.batches())


def _commit_again(lake: Lake, waiting: str) -> None:
    """Commit a waiting batch after what others have pushed since, and without what they brought as well."""
    with lake.batch(counted_before(waiting), reread=waiting.endswith(REREAD)) as batch:
        for file in (lake.outbox / waiting).glob("*.parquet"):
            with naming(file), pq.ParquetFile(file) as parquet:
                for group in range(parquet.num_row_groups):
                    batch.add(file.stem, widened(parquet.read_row_group(group), TABLES[file.stem]))
        batch.commit()
    _discard(lake, waiting)


def _discard(lake: Lake, waiting: str) -> None:
    with lake.staged() as away:
        (lake.outbox / waiting).rename(away / waiting)


def _put(bucket: Bucket, lake: Lake, batch: str) -> bool:
    """Put the files of a batch, and, when all are there and nobody is in the way, the manifest that makes them seen.

    Returns False, with nothing left in the bucket, when somebody is.
    """
    waiting, folder = lake.outbox / batch, f"{_BATCHES}/{batch}"
    manifest = Manifest.of(waiting)
    tables: Mapping[str, Part] = manifest.tables if manifest else {}
    for table in sorted(tables, key=lambda table: table == "raw_files"):  # last: no row counts before its file does
        file, part = waiting / f"{table}.parquet", tables[table]
        if bucket.upload(file, f"{folder}/{file.name}") != (part.size_bytes, part.sha256):
            message = f"{file} is not what was written. Remove {waiting}, and ingest its files again."
            raise DamagedFile(message)
    there = {PurePosixPath(key).stem: found.size_bytes for key, found in bucket.listing(folder).items()}
    if not tables or not {table: part.size_bytes for table, part in tables.items()}.items() <= there.items():
        message = f"{bucket.name(folder)} does not hold what was put. Repeat the command."
        raise BucketUnusable(message)
    if _in_the_way(bucket, lake, batch):
        bucket.remove(folder)
        return False
    bucket.put(f"{folder}/{MANIFEST}", (waiting / MANIFEST).read_bytes())
    return True


def _in_the_way(bucket: Bucket, lake: Lake, batch: str) -> bool:
    """Return whether a batch, pushed or on the way, would hide rows of this one, or this one rows of it."""
    first, last = span(batch)
    others = [other for other in bucket.folders(_BATCHES) if other != batch]
    if not is_compacted(batch):
        return any(is_compacted(other) and within(batch, other) for other in others)
    replaced = [other for other in lake.batches() if within(other, batch)]
    held = {commit for other in replaced for commit in commits_of(lake.folder(other))}
    same = len(replaced) > 1 and held == {*commits_of(lake.outbox / batch)}
    if not same or not {*replaced} <= {*others, _OWN}:
        return True
    # What came into the span of an earlier compacted batch was in the way of that, and saw it.
    earlier = [other for other in replaced if is_compacted(other)]
    strange = (other for other in {*others} - {*replaced} if not any(within(other, each) for each in earlier))
    return any(span(other)[0] <= last and first <= number(other) for other in strange)


def _seen(lake: Lake, batch: str) -> None:
    (lake.outbox / batch).rename(lake.folder(batch))
    for folder in (lake.outbox, lake.folder(batch).parent):
        fsync(folder)


def _sweep(bucket: Bucket, lake: Lake, listed: Listed) -> None:
    """Remove batches that lack a manifest since yesterday, left by killed pushes, and those replaced before that."""
    now, whole = datetime.now(UTC), _whole(listed)
    old = {
        batch for batch, files in listed.items() if all(now - each.modified_at > _ABANDONED for each in files.values())
    }
    doomed = [*old - whole]
    if replaced := ordered(whole)[1]:
        holder = lake.commits()
        for batch in replaced:
            with suppress(Damaged):
                commits = _manifest(bucket, batch).commits if is_compacted(batch) else (batch,)
                if {holder.get(commit) for commit in commits} <= old:
                    doomed.append(batch)
    for batch in doomed:
        bucket.remove(f"{_BATCHES}/{batch}")


def _sync_warehouse(bucket: Bucket, home: Home) -> None:
    """Publish what was built here, or take over what was published elsewhere: the later of both where both changed."""
    there, here = _published(bucket), _identity(home)
    known, known_file = _remembered(home)
    if here and here != known_file:
        with _linked(home) as (file, identity):
            built_at = _built_at(file)
            if there in (None, known) or (there and built_at >= there.built_at):
                _remember(home, _publish(bucket, home, file, built_at, there), identity)
                return
    if there and (there != known or not here):
        _take_over(bucket, home, there)


def _publish(bucket: Bucket, home: Home, file: Path, built_at: str, there: Published | None) -> Published:
    files = {home.warehouse.name: file, "quality/gate.json": home.quality / "gate.json"}
    digested = {name: (each.stat().st_size, sha256_of(each)) for name, each in files.items() if each.exists()}
    name = f"{re.sub('[-:]', '', built_at)}-{digested[home.warehouse.name][1][:12]}"
    fresh = Published(name, built_at, digested)
    if fresh == there:  # killed before it was noted
        return fresh
    for each, said in digested.items():
        key = f"{_PUBLICATIONS}/{name}/{each}"
        if bucket.upload(files[each], key) != said:
            message = f"{bucket.name(key)} is not what was to be put. Repeat the command."
            raise BucketUnusable(message)
    bucket.put(_PUBLISHED, fresh.written())
    _remove_old(bucket, name)
    return fresh


def _remove_old(bucket: Bucket, published: str) -> None:
    """Keep the last publications, and those that somebody may still be reading."""
    now, last = datetime.now(UTC), dict[str, datetime]()
    for key, found in bucket.listing(_PUBLICATIONS).items():
        name = key.split("/")[1]
        last[name] = max(found.modified_at, last.get(name, found.modified_at))
    for name in sorted(last, key=last.__getitem__)[:-KEPT]:
        if name != published and now - last[name] > _ABANDONED:
            bucket.remove(f"{_PUBLICATIONS}/{name}")


def _take_over(bucket: Bucket, home: Home, there: Published) -> None:
    """Publish in the mirror what is published in the bucket."""
    folder = home.root / "pulled"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    files = {home.warehouse.name: folder / home.warehouse.name, "quality/gate.json": folder / "gate.json"}
    for name, said in there.files.items():
        key = f"{_PUBLICATIONS}/{there.name}/{name}"
        if name in files and (reason := _wrong(bucket, key, *said, files[name])):
            message = f"{bucket.name(key)}: {reason}. {_BUILD_AGAIN}"
            raise Damaged(message)
    warehouse, gate = files.values()
    built_at = datetime.fromisoformat(there.built_at).timestamp()
    os.utime(warehouse, (built_at, built_at))
    with publication.alone(home, lambda _: None):
        if gate.exists():
            home.quality.mkdir(exist_ok=True)
            gate.replace(home.quality / gate.name)
        publication.publish(warehouse, home)
        _remember(home, there, _identity(home))


def _published(bucket: Bucket) -> Published | None:
    try:
        return Published.of(bucket.get(_PUBLISHED))
    except ValueError as error:
        message = f"{bucket.name(_PUBLISHED)}: it is not what was put. {_BUILD_AGAIN}"
        raise Damaged(message) from error


@contextmanager
def _linked(home: Home) -> Iterator[tuple[Path, Identity]]:
    """Yield the warehouse under a second name, at which it stays while it is read, whatever is published meanwhile."""
    file = home.root / "pushed.duckdb"
    file.unlink(missing_ok=True)
    os.link(home.warehouse, file)
    try:
        found = file.stat()
        yield file, Identity(found.st_ino, found.st_mtime_ns)
    finally:
        file.unlink()


def _built_at(file: Path) -> str:
    """Return when a warehouse was built, as ISO 8601 in UTC; raises DamagedFile when it cannot be read."""
    try:
        with duckdb.connect() as connection:
            connection.execute(f"attach {quoted(file)} as warehouse (read_only)")
            row = connection.execute("select epoch_us(built_at) from warehouse.build_info").fetchone() or (0,)
    except duckdb.Error as error:
        message = (
            f"The warehouse in {file.parent} cannot be read, and was not pushed. Remove it, and repeat the command."
        )
        raise DamagedFile(message) from error
    return datetime.fromtimestamp(row[0] / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _identity(home: Home) -> Identity | None:
    try:
        found = home.warehouse.stat()
    except FileNotFoundError:
        return None
    return Identity(found.st_ino, found.st_mtime_ns)


def _remember(home: Home, published: Published | None, file: Identity | None) -> None:
    """Note which publication the warehouse of the mirror is."""
    body = {"file": file, "published": (published.written().decode() if published else None)}
    with replacing(home.root / _PUBLISHED) as written:
        written.write(json.dumps(body).encode())


def _remembered(home: Home) -> tuple[Published | None, Identity | None]:
    try:
        said = json.loads((home.root / _PUBLISHED).read_text("utf-8"))
        published = Published.of(said["published"].encode()) if said["published"] else None
        return published, Identity(*said["file"]) if said["file"] else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None, None
