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
    """Return the published figures that a claim is checked against, each with its configuration.

    Besides the columns of `published_figures`: `configuration_id`, null for figures other than rates (times, ratios).
    """
    return warehouse.query(text("claims_figures"), {"claim_id": claim_id})
