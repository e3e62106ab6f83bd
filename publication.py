"""The published warehouse and the ones before it; a file appears and disappears by one rename.

    <home>/warehouse.duckdb              the current warehouse
    <home>/earlier/0007-<time>.duckdb    a replaced publication, by its number; the time is informative
    <home>/build.lock                    held while publishing

A reader keeps its open file while another is published.
"""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from dropline.errors import DroplineError
from dropline.ingest.parquet import fsync

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from dropline.paths import Home

KEPT: Final = 3

_NAME: Final = re.compile(r"([0-9]{4,18})-[0-9]{8}T[0-9]{6}Z\.duckdb")


class NoSuchPublication(DroplineError):
    """There is nothing to go back to, or not under this name."""


class Publication(NamedTuple):
    """A warehouse that was published before: its number, its file, and when it was made."""

    number: int
    file: Path

    @property
    def name(self) -> str:
        """What people call it: the file's name without its ending."""
        return self.file.stem

    @property
    def made_at(self) -> datetime:
        """When the file was written, UTC."""
        return datetime.fromtimestamp(self.file.stat().st_mtime, UTC)


@contextmanager
def alone(home: Home, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the home's lock on publishing; others wait, and `say` so."""
    home.root.mkdir(parents=True, exist_ok=True)
    with (home.root / "build.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another build to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def publish(built: Path, home: Home, keep: int = KEPT) -> None:
    """Put the file `built` in the place of the warehouse, and keep the last `keep` before it.

    The caller is `alone`. Killed at any instant, the warehouse is the old file or the new one.
    """
    fsync(built)
    _put_aside(home)
    _replace(built, home)
    for publication in _all(home)[:-keep] if keep else _all(home):
        if not _is_current(publication, home):
            publication.file.unlink()


def earlier(home: Home) -> list[Publication]:
    """Return what `rollback` can return to, oldest first; never the published one."""
    return [publication for publication in _all(home) if not _is_current(publication, home)]


def rollback(home: Home, name: str | None = None, *, progress: Callable[[str], None] | None = None) -> Publication:
    """Publish an earlier warehouse again: the one called `name`, else the one before the present one.

    What is published now stays among the earlier ones, so that this can be taken back.

    Raises:
        NoSuchPublication: nothing is kept, or nothing of this name.
    """
    with alone(home, progress or (lambda _: None)):
        return _rollback(home, name)


def wal(database: Path) -> Path:
    """Return the log that DuckDB keeps beside a database while it is written."""
    return database.with_name(database.name + ".wal")


def _rollback(home: Home, name: str | None) -> Publication:
    kept = earlier(home)
    present = next((p.number for p in _all(home) if _is_current(p, home)), None)
    if name is None:
        wanted = [p for p in kept if present is None or p.number < present]
    else:
        wanted = [p for p in kept if p.name == name]
    if not wanted:
        names = ", ".join(p.name for p in kept) or "none"
        asked = f"no earlier warehouse is called {name!r:.80}" if name else "no warehouse is kept from before this one"
        message = f"{home.root}: {asked}; there are: {names}. `dropline build` makes one from the lake."
        raise NoSuchPublication(message)
    chosen = wanted[-1]
    _put_aside(home)
    link = home.root / "earlier" / "next"
    link.unlink(missing_ok=True)
    os.link(chosen.file, link)
    _replace(link, home)
    return chosen


def _all(home: Home) -> list[Publication]:
    folder = home.root / "earlier"
    if not folder.is_dir():
        return []
    found = ((_NAME.fullmatch(file.name), file) for file in folder.iterdir())
    return sorted(Publication(int(match[1]), file) for match, file in found if match)


def _is_current(publication: Publication, home: Home) -> bool:
    return home.warehouse.exists() and publication.file.samefile(home.warehouse)


def _put_aside(home: Home) -> None:
    """Give the present warehouse a second name, which survives its replacement."""
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
    # What another client has logged against the old file must not be replayed into the new one.
    wal(home.warehouse).unlink(missing_ok=True)
    file.replace(home.warehouse)
    fsync(home.root)
