"""Scope of a report, and its queries; every text from a file is made printable here."""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dropline.app import wording
from dropline.errors import DroplineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import date, datetime

    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

Row = dict[str, Any]
_QUERIES: Final = Path(__file__).parent / "queries"


class ReportError(DroplineError):
    """The requested report cannot be made."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The subject of a report: campaigns, as named in the warehouse, and their configurations."""

    warehouse: Warehouse
    campaigns: list[str]
    ids: list[str]
    labels: Mapping[str, str]

    def rows(self, name: str) -> list[Row]:
        """Return the rows of queries/<name>.sql, which uses `$campaigns` or `$ids`."""
        sql = (_QUERIES / f"{name}.sql").read_text("utf-8")
        known = {"campaigns": self.campaigns, "ids": [*self.ids, ""]}
        return printable(self.warehouse.query(sql, {name: some for name, some in known.items() if f"${name}" in sql}))


def chosen(warehouse: Warehouse, wanted: Sequence[str]) -> Scope:
    """Return the scope of the wanted campaigns; by default all measured ones, or all if none was measured.

    Raises:
        ReportError: a campaign is not in the warehouse.
    """
    known = warehouse.query("select campaign, origin from campaigns order by campaign").to_pylist()
    names = [row["campaign"] for row in known]
    measured = [row["campaign"] for row in known if row["origin"] == "measured"]
    for name in wanted:
        if name not in names:
            near = difflib.get_close_matches(name, names, 3, 0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else "`dropline status` lists what was measured."
            message = f"--campaign {name}: the warehouse has no campaign with that name; {hint}"
            raise ReportError(message)
    chosen = sorted(set(wanted)) or measured or names
    rows = printable(
        warehouse.query(
            """
            select configuration_id, configuration, campaign from configurations
            where list_contains($campaigns, campaign)
            order by campaign, configuration, configuration_id
            """,
            {"campaigns": chosen},
        )
    )
    return Scope(warehouse, chosen, [row["configuration_id"] for row in rows], _labels(rows, len(chosen) > 1))


def _labels(rows: Sequence[Row], names_campaign: bool) -> dict[str, str]:
    """Return a unique text for each configuration."""
    texts = {
        row["configuration_id"]: f"{row['configuration']} ({row['campaign']})"
        if names_campaign
        else row["configuration"]
        for row in rows
    }
    shared = Counter(texts.values())
    return {each: text if shared[text] == 1 else f"{text} #{each[:6]}" for each, text in texts.items()}


def printable(table: pa.Table) -> list[Row]:
    """Return the rows of a result, with values made printable by `shown`."""
    return [{name: shown(value) for name, value in row.items()} for row in table.to_pylist()]


def shown(value: Any) -> Any:
    """Return a value with a blank for each character that controls the terminal or the text direction."""
    if isinstance(value, str):
        return "".join(char if char.isprintable() else " " for char in value)
    if isinstance(value, list | tuple):
        return type(value)(shown(each) for each in value)
    return value


def grouped(rows: Iterable[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    """Return the rows by key, keeping the order of both."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def joined(*parts: str | None) -> str:
    """Return the non-empty parts, joined by blanks."""
    return " ".join(part for part in parts if part)


def number(value: float | None) -> str:
    """Return a number formatted by `wording.number`; a dash for none."""
    return wording.number(float(value)) if value is not None else "-"


def percent(ratio: float | None) -> str:
    """Return a ratio (0..1) in percent; a dash for none."""
    return f"{100 * ratio:.3g} %" if ratio is not None else "-"


def day(date: date | None) -> str:
    """Return a date in ISO 8601 format; a dash for none."""
    return f"{date:%Y-%m-%d}" if date else "-"


def moment(time: datetime | None) -> str:
    """Return a time of the warehouse (UTC) to the minute; a dash for none."""
    return f"{time:%Y-%m-%d %H:%M} UTC" if time else "-"


def web(url: str | None) -> str:
    """Return a URL if it may become a link, which requires http or https; else an empty text."""
    return url if url and url.lower().startswith(("https://", "http://")) and " " not in url else ""
