"""Where everything of one installation lies: the home, its lake, its warehouse, its quality reports."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that holds all data; nothing is written outside it."""

    root: Path

    @classmethod
    def chosen(cls, root: Path | None = None) -> Home:
        """Return the home named by `root`, else by DROPLINE_HOME, else ./data."""
        return cls((root or Path(os.environ.get("DROPLINE_HOME") or "data")).expanduser().absolute())

    @property
    def lake(self) -> Path:
        """The folder of the Parquet batches."""
        return self.root / "lake"

    @property
    def warehouse(self) -> Path:
        """The DuckDB file that people read."""
        return self.root / "warehouse.duckdb"

    @property
    def quality(self) -> Path:
        """The folder of the gate's last results."""
        return self.root / "quality"
