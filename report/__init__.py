"""The report: what a warehouse says about campaigns, as one file to attach to a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.warehouse import Warehouse

FORMATS: Final = ("html", "markdown")


def make(warehouse: Warehouse, campaigns: Sequence[str] = (), form: str = "html") -> str:
    """Return the report on some campaigns, or on all measured ones, in one of `FORMATS`.

    The same warehouse always gives the same text.

    Raises:
        ReportError: a campaign is not in the warehouse.
    """
    from report import content

    made = content.report(warehouse, campaigns)
    if form == "markdown":
        from report import markdown

        return markdown.render(made)
    from report import html

    return html.render(made)
