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
    """Return the published figures that a claim is held against, each with the configuration it is a capacity of.

    Beside the columns of `published_figures`: `configuration_id`, null for what is no rate (a time, a ratio).
    """
    return warehouse.query(
        text("claims_figures"),
        {"claim_id": claim_id},
    )
