"""The report on campaigns of a warehouse, as one file to attach to a release."""

from collections.abc import Callable, Sequence
from typing import Final

from dropline.app.warehouse import Warehouse

FORMATS: Final = ("html", "markdown")


def make(
    warehouse: Warehouse,
    campaigns: Sequence[str] = (),
    form: str = "html",
    progress: Callable[[int, int], None] | None = None,
) -> str:
    """Return the report on some campaigns, or all measured ones, in one of `FORMATS`; raise DroplineError if unknown.

    The text is reproducible: it depends on the warehouse only. `progress` is called with (done, total).
    """
    from dropline.report import content, rendering

    made = content.report(warehouse, campaigns)
    return rendering.html(made, progress) if form == "html" else rendering.markdown(made)
