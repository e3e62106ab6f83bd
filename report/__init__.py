"""Report on campaigns of a warehouse, as one file to attach to a release."""

from collections.abc import Sequence
from typing import Final

from dropline.app.warehouse import Warehouse
from dropline.progress import Progress, unseen

FORMATS: Final = ("html", "markdown")


def make(warehouse: Warehouse, campaigns: Sequence[str] = (), form: str = "html", progress: Progress = unseen) -> str:
    """Return the report on some campaigns, or all measured ones, in one of `FORMATS`; raise DroplineError if unknown.

    The text is reproducible: it depends on the warehouse only.
    """
    from dropline.report import content, rendering

    made = content.report(warehouse, campaigns)
    return rendering.html(made, progress) if form == "html" else rendering.markdown(made)
