"""The report as GitHub-flavoured Markdown: pipe tables, and a sentence per chart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dropline.report.sections import Chart, Paragraph, Points, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dropline.report.sections import Block, Cell, Report

# Markup characters within a line. Dots and hyphens are none there; unescaped, figures stay readable in the source.
_MEANT: Final = re.compile(r"([\\`*_\[\]<>|~$&#@])")


def render(report: Report) -> str:
    """Return the report as Markdown; every text is escaped."""
    parts = [f"# {_escaped(report.title)}", f"{_escaped(report.subtitle)}."]
    for section in report.sections:
        parts += [f"## {_escaped(section.title)}", *map(_block, section.blocks)]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    match block:
        case Paragraph(text):
            return _escaped(text)
        case Points(texts):
            return "\n".join(f"- {_escaped(text)}" for text in texts)
        case Chart():
            return f"- {_escaped(block.title)}: {_escaped(block.description)}"
        case Table():
            return f"**{_escaped(block.caption)}**\n\n" + "\n".join(_lines(block))


def _lines(table: Table) -> Iterable[str]:
    yield _line(map(_escaped, table.columns))
    yield _line("---:" if flush_right else "---" for flush_right in table.figures)
    for row in table.rows:
        yield _line(map(_cell, row))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = _escaped(cell.text) + (f" ({_escaped(cell.detail)})" if cell.detail else "")
    return f"{text} <{cell.url}>" if cell.url and not re.search(r"[<>|\\]", cell.url) else text


def _escaped(text: str) -> str:
    return _MEANT.sub(r"\\\1", " ".join(text.split()))
