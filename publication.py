"""Published warehouse and its predecessors, each replaced by one rename.

The published one is <home>/warehouse.duckdb, an earlier one <home>/earlier/0007-<time>.duckdb; build.lock is held
during publication. Readers keep the file that they have opened.
"""

import fcntl
import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from dropline.errors import DroplineError
from dropline.ingest.parquet import fsync
from dropline.paths import Home
from dropline.progress import unseen

KEPT: Final = 3

_NAME: Final = re.compile(r"([0-9]{4,18})-[0-9]{8}T[0-9]{6}Z\.duckdb")


class Publication(NamedTuple):
    """An earlier published warehouse: its number, its file, and its time."""

    number: int
    file: Path

    @property
    def name(self) -> str:
        """The file's name without its extension."""
        return self.file.stem

    @property
    def made_at(self) -> datetime:
        """Time when the file was written, in UTC."""
        return datetime.fromtimestamp(self.file.stat().st_mtime, UTC)


@contextmanager
def alone(home: Home, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the home's publication lock; call `say` if that must wait for another process."""
    home.root.mkdir(parents=True, exist_ok=True)
    with (home.root / "build.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another build to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def publish(built: Path, home: Home, keep: int = KEPT) -> None:
    """Replace the warehouse by the file `built`, and keep the last `keep` publications before it.

    The caller must hold `alone`. If it is killed at any time, the warehouse is the old or the new file.
    """
    fsync(built)
    _put_aside(home)
    _replace(built, home)
    for publication in _all(home)[:-keep] if keep else _all(home):
        if not _is_current(publication, home):
            publication.file.unlink()


def earlier(home: Home) -> list[Publication]:
    """Return the publications that `rollback` can restore, oldest first, without the current one."""
    return [publication for publication in _all(home) if not _is_current(publication, home)]


def rollback(home: Home, name: str | None = None, *, progress: Callable[[str], None] = unseen) -> Publication:
    """Publish an earlier warehouse again, by default the one before the current; raise DroplineError if there is none.

    The current one is kept as an earlier one, so that a rollback can be undone.
    """
    with alone(home, progress):
        kept = earlier(home)
        present = next((p.number for p in _all(home) if _is_current(p, home)), math.inf)
        wanted = [p for p in kept if (p.number < present if name is None else p.name == name)]
        if not wanted:
            names = ", ".join(p.name for p in kept) or "none"
            asked = f"no earlier warehouse is called {name!r:.80}" if name else "no earlier warehouse is kept"
            raise DroplineError(f"{home.root}: {asked}; there are: {names}. `dropline build` makes one from the lake.")
        chosen = wanted[-1]
        _put_aside(home)
        link = home.root / "earlier" / "next"
        link.unlink(missing_ok=True)
        os.link(chosen.file, link)
        _replace(link, home)
        return chosen


def wal(database: Path) -> Path:
    """Return the path of DuckDB's write-ahead log of a database."""
    return database.with_name(database.name + ".wal")


def _all(home: Home) -> list[Publication]:
    found = ((_NAME.fullmatch(file.name), file) for file in (home.root / "earlier").glob("*"))
    return sorted(Publication(int(match[1]), file) for match, file in found if match)


def _is_current(publication: Publication, home: Home) -> bool:
    return home.warehouse.exists() and publication.file.samefile(home.warehouse)


def _put_aside(home: Home) -> None:
    """Hard-link the current warehouse to a second name, which survives its replacement."""
    kept = _all(home)
    if not home.warehouse.exists() or any(_is_current(publication, home) for publication in kept):
        return
    folder = home.root / "earlier"
    folder.mkdir(exist_ok=True)
    number = kept[-1].number + 1 if kept else 1
    made_at = datetime.fromtimestamp(home.warehouse.stat().st_mtime, UTC)
    os.link(home.warehouse, folder / f"{number:04}-{made_at:%Y%m%dT%H%M%SZ}.duckdb")
    fsync(folder)


def _replace(file: Path, home: Home) -> None:
    # Another client's log for the old file must not be replayed into the new one.
    wal(home.warehouse).unlink(missing_ok=True)
    file.replace(home.warehouse)
    fsync(home.root)
