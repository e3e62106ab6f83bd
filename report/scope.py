"""Scope of a report, and its queries, which make every text from a file printable."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from dropline.app import output_formats, queries, wording
from dropline.app.warehouse import Warehouse
from dropline.errors import DroplineError
from dropline.report.sections import Cell, Table

Row = dict[str, Any]
_QUERIES: Final = Path(__file__).parent / "queries"


@dataclass(frozen=True, slots=True)
class Scope:
    """Subject of a report: campaigns, by their names in the warehouse, and their configurations."""

    warehouse: Warehouse
    campaigns: list[str]
    ids: list[str]
    labels: Mapping[str, str]

    def rows(self, name: str) -> list[Row]:
        """Return the rows of queries/<name>.sql, which uses `$campaigns` or `$ids`."""
        sql = (_QUERIES / f"{name}.sql").read_text("utf-8")
        known = {"campaigns": self.campaigns, "ids": [*self.ids, ""]}
        return printable(queries.own(self.warehouse, sql, known))

    def tables(self, caption: str, name: str) -> tuple[Table, ...]:
        """Return a table of the rows of queries/<name>.sql, none if empty; its column `configuration` holds ids."""
        rows = [
            {
                wording.REPORTED.get(column) or column.replace("_", " ").capitalize(): value
                for column, value in row.items()
            }
            for row in self.rows(name)
        ]
        for row in rows:
            if "Configuration" in row:
                cell = Cell.of(row["Configuration"])
                row["Configuration"] = cell._replace(text=self.labels.get(cell.text, ""))
        return (Table.of(caption, rows),) if rows else ()


def chosen(warehouse: Warehouse, wanted: Sequence[str]) -> Scope:
    """Return the scope of the wanted campaigns, else of all measured, else of all; raise DroplineError if unknown."""
    known = warehouse.query("select campaign, origin from campaigns order by campaign").to_pylist()
    names = [row["campaign"] for row in known]
    measured = [row["campaign"] for row in known if row["origin"] == "measured"]
    for name in wanted:
        if name not in names:
            near = difflib.get_close_matches(name, names, 3, 0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else "`dropline status` lists what was measured."
            raise DroplineError(f"--campaign {name}: the warehouse has no campaign with that name; {hint}")
    chosen = sorted(set(wanted)) or measured or names
    ids = [row["configuration_id"] for row in Scope(warehouse, chosen, [], {}).rows("configurations")]
    known = queries.labels(warehouse)
    labels = {each: output_formats.printable(known[each]) for each in ids}
    if len(chosen) == 1:
        labels = {each: label.replace(f" ({chosen[0]})", "") for each, label in labels.items()}
    return Scope(warehouse, chosen, ids, labels)


def printable(table: pa.Table) -> list[Row]:
    """Return the rows of a result with printable values."""
    return [output_formats.printable(row) for row in table.to_pylist()]


def grouped(rows: Iterable[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    """Return the rows by key, in the order of their first rows."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def joined(*parts: str | None) -> str:
    """Return the non-empty parts, joined by blanks."""
    return " ".join(part for part in parts if part)


def web(url: str | None) -> str:
    """Return a URL if it can be a link, which requires http or https and no markup; else an empty text."""
    return url if url and re.fullmatch(r"https?://[^\s<>|\\\\]+", url, re.IGNORECASE) else ""
