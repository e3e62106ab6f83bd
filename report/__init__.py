"""The report on campaigns of a warehouse, as one file to attach to a release."""

from collections.abc import Sequence
from typing import Final

from dropline.app.warehouse import Warehouse

FORMATS: Final = ("html", "markdown")


def make(warehouse: Warehouse, campaigns: Sequence[str] = (), form: str = "html") -> str:
    """Return the report on some campaigns, or on all measured ones, in one of `FORMATS`; raise ReportError if unknown.

    The text is reproducible: it depends on the warehouse only.
    """
    from dropline.report import content, rendering

    render = {"html": rendering.html, "markdown": rendering.markdown}[form]
    return render(content.report(warehouse, campaigns))
