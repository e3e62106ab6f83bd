"""What the tests of the report share: the examples, copies of them that were changed, and a reader of Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from dropline.app.warehouse import Warehouse
from tests import homes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOSTILE = "<script>alert(1)</script>|`x`</td><img src=x onerror=alert(1)>\x1b[31m\u202e\n# title\r\n| a | b |\n&lt; \"'"
FROM_FILES = (
    ("campaigns", "title"),
    ("campaigns", "description"),
    ("configurations", "configuration"),
    ("configurations", "method"),
    ("capacity", "backend"),
    ("capacity", "method"),
    ("capacity", "rate_unit"),
    ("hosts", "cpu_model"),
    ("server_configurations", "source_path"),
    ("trials", "source_path"),
    ("trial_intervals", "exchange"),
    ("quality_findings", "detail"),
    ("quality_findings", "source_path"),
)


@pytest.fixture
def changed(warehouse_home: Path, tmp_path: Path) -> Callable[..., Warehouse]:
    """Return a function that opens a copy of the examples' warehouse after some statements have run on it."""

    return lambda *statements, **texts: Warehouse.open(
        homes.changed(warehouse_home, tmp_path, *statements, **texts) / "warehouse.duckdb"
    )


@pytest.fixture
def hostile(changed: Callable[..., Warehouse]) -> Warehouse:
    """The examples, but every text that comes from files tries to be markup, and one address to be a program."""
    return changed(
        *(f"update {table} set {column} = $text || coalesce({column}, '')" for table, column in FROM_FILES),
        "update campaigns set source_url = 'javascript:alert(1)'",
        text=HOSTILE,
    )


@pytest.fixture(scope="session")
def tables_of() -> Callable[[str], dict[str, list[list[str]]]]:
    """Return a function that reads Markdown's pipe tables: title -> rows of cells, the head first."""

    def read(markdown: str) -> dict[str, list[list[str]]]:
        tables: dict[str, list[list[str]]] = {}
        title = ""
        for line in markdown.splitlines():
            if line.startswith("**"):
                title = line.strip("*")
                tables[title] = []
            elif line.startswith("|") and not re.fullmatch(r"[|\-: ]+", line):
                cells = re.split(r"(?<!\\)\|", line)[1:-1]
                tables[title].append([cell.strip() for cell in cells])
        return tables

    return read
