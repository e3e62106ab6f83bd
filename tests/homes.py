"""Homes that tests build, and questions to their warehouses."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from dropline import pipeline
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.paths import Home

Ask = Callable[..., list[tuple[Any, ...]]]


def built(root: Path, *folders: Path, rejects: int | None = None) -> Home:
    """Ingest folders into the home in `root`, of which so many parts may be refused, and build it."""
    home = Home.chosen(root)
    summary = ingest(folders, Lake.create(home.lake)) if folders else None
    assert rejects in {None, len(summary.rejects) if summary else 0}
    pipeline.build(home)
    return home


def changed(home: Path, folder: Path, *statements: str, **values: Any) -> Path:
    """Copy the warehouse of a home to a folder, run statements on the copy, and return the folder."""
    file = shutil.copy(home / "warehouse.duckdb", folder)
    with duckdb.connect(str(file)) as database:
        for statement in statements:
            database.execute(statement, {name: value for name, value in values.items() if f"${name}" in statement})
    return folder


@contextmanager
def asking(home: Home | Path) -> Iterator[Ask]:
    """Give the function that asks the warehouse of a home, with values for the question marks of a query."""
    file = (home.warehouse if isinstance(home, Home) else home / "warehouse.duckdb").as_posix()
    with duckdb.connect(file, read_only=True) as connection:
        yield lambda query, *values: connection.execute(query, list(values)).fetchall()
