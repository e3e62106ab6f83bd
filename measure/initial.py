"""Commented initial plans, one per product, with server configurations."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from dropline.measure.plan import PlanError

_PLANS: Final = Path(__file__).parent / "plans"
PRODUCTS: Final = tuple(sorted(each.name for each in _PLANS.iterdir()))


def begin(product: str, folder: Path) -> Path:
    """Copy the plan of a product into a new or empty folder and return its path; raise PlanError."""
    if product not in PRODUCTS:
        message = f"--init {product}: expected {' or '.join(PRODUCTS)}"
        raise PlanError(message)
    if folder.is_dir() and any(folder.iterdir()):
        message = f"{folder}: is not empty; choose a new folder"
        raise PlanError(message)
    shutil.copytree(_PLANS / product, folder, dirs_exist_ok=True)
    return folder / "plan.yaml"
