"""Sections of a report before layout: plain data, no markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, NamedTuple

from dropline.app import wording
from dropline.app.charts.theme import Titled

EMPTY: Final = {"", "-"}
_FIGURE: Final = re.compile(r"(?!.{40})([≥≤<>≈] ?\d|[-+]?\d[\d,.]*( |$)|-$|\?$|$)")


class Cell(NamedTuple):
    """A text in a table.

    `detail` goes below it in small print; `tone` is `good` or `bad` if a test has shown it; `url` is its source.
    """

    text: str
    detail: str = ""
    tone: str = ""
    url: str = ""

    @classmethod
    def of(cls, value: Any) -> Cell:
        """Return a cell from a cell, a struct of its parts, or any value that `text` formats."""
        if isinstance(value, dict):
            return cls(**value)
        return value if isinstance(value, Cell) else cls(text(value))


def text(value: Any) -> str:
    """Format a value of the warehouse: rates by `wording.number`, times in UTC to the minute; a dash for none."""
    match value:
        case None:
            return "-"
        case str():
            return value
        case datetime():
            return f"{value:%Y-%m-%d %H:%M} UTC"
        case date():
            return f"{value:%Y-%m-%d}"
    return wording.number(float(value))


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its caption."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, caption: str, rows: Iterable[Mapping[str, Any]]) -> Table:
        """Return a table of rows with the same keys, without empty columns."""
        cells = [{name: Cell.of(value) for name, value in row.items()} for row in rows]
        names = [name for name in (cells[0] if cells else ()) if any(row[name].text not in EMPTY for row in cells)]
        return cls(caption, tuple(names), tuple(tuple(row[name] for name in names) for row in cells))

    @property
    def figures(self) -> list[bool]:
        """Return for each column whether it holds only figures, which are right-aligned."""
        return [all(_FIGURE.match(cell.text) for cell in column) for column in zip(*self.rows, strict=True)]


class Chart(NamedTuple):
    """A chart of the app, whose title is its finding; `about` names what it shows."""

    about: str
    drawn: Titled


Block = str | tuple[str, ...] | Table | Chart  # a paragraph, a list, ...


class Section(NamedTuple):
    """A chapter; `key` is its anchor."""

    key: str
    title: str
    blocks: tuple[Block, ...]


class Report(NamedTuple):
    """The whole report; `subtitle` names the warehouse."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
