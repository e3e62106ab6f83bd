"""Queries about a dropped file: known results of the same generator, protocol and unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dropline.app.queries.files import text

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

MOST_STEPS: Final = 1500  # some hundred curves; more hide each other and keep the browser busy


def loss_curves(warehouse: Warehouse, tool: str, protocol: str | None, rate_unit: str | None) -> pa.Table:
    """Return the loss of the worst exchange (0..1) over the offered rate, one row per configuration and step.

    At most `MOST_STEPS` rows.

    Columns: offered_rate and loss_ratio (medians of the runs), configuration_id, configuration, backend and runs.
    """
    return warehouse.query(
        text("tried_loss_curves"), {"tool": tool, "protocol": protocol, "rate_unit": rate_unit, "most": MOST_STEPS}
    )


def capacities(
    warehouse: Warehouse, tool: str, protocol: str | None, rate_unit: str | None, loss_goal: str
) -> pa.Table:
    """Return configuration, rate and status of each measured capacity within a loss goal, fastest first."""
    return warehouse.query(
        text("tried_capacities"), {"tool": tool, "protocol": protocol, "rate_unit": rate_unit, "loss_goal": loss_goal}
    )
