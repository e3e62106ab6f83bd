"""The figures of who built the warehouse, without the published ones that stand beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dropline.app.queries import USUAL_GOALS
from dropline.app.queries.files import text

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def own_figures(warehouse: Warehouse) -> pa.Table:
    """Return a row for each measured configuration: its capacity, and between what the rate at its loss limit lies."""
    return warehouse.query(text("own_figures"), USUAL_GOALS)
