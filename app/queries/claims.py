"""Queries of the page Published claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dropline.app.queries.files import text

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def claims(warehouse: Warehouse) -> pa.Table:
    """Return the mart `claims`, in its own order."""
    return warehouse.query(text("claims_claims"))


def figures(warehouse: Warehouse, claim_id: str) -> pa.Table:
    """Return the published figures behind a claim, each with its configuration.

    Beside the columns of `published_figures`: `configuration_id`, null if the figure is no rate (a time, a ratio).
    """
    return warehouse.query(
        text("claims_figures"),
        {"claim_id": claim_id},
    )
