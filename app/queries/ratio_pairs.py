"""Queries of the page Speed-ups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dropline.app.queries.files import text

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

FACTORS: Final = ("threading", "ha_mode", "backend", "ip_version")


def ratios(warehouse: Warehouse, factor: str) -> pa.Table:
    """Return the pairs that differ in one of FACTORS, measured first, with the grade of their comparison."""
    return warehouse.query(text("ratio_pairs_ratios"), {"factor": factor})


def scaling(warehouse: Warehouse) -> pa.Table:
    """Return every family of thread counts at one loss goal, fitted ones first."""
    return warehouse.query(text("ratio_pairs_scaling"))


def scaling_points(warehouse: Warehouse, family_id: str) -> pa.Table:
    """Return the thread counts of a family with their measured and fitted rates."""
    return warehouse.query(text("ratio_pairs_scaling_points"), {"family": family_id})
