"""Where a dropped file stands: the known results of the same generator, protocol and unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dropline.app.queries import MOST_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def loss_curves(warehouse: Warehouse, tool: str, protocol: str | None, rate_unit: str | None) -> pa.Table:
    """Return the loss of the worst exchange (0..1) over the offered rate, a row per configuration and step.

    Beside offered_rate and loss_ratio (the medians of the runs): configuration_id, configuration, backend and runs.
    """
    return warehouse.query(
        """
        select
            configurations.configuration_id,
            any_value(configurations.configuration) as configuration,
            any_value(configurations.backend) as backend,
            run_steps.offered_rate,
            median(run_steps.loss_worst_exchange) as loss_ratio,
            count(*) as runs
        from run_steps
        inner join configurations on run_steps.configuration_id = configurations.configuration_id
        where configurations.tool = $tool
            and configurations.protocol is not distinct from $protocol
            and configurations.rate_unit is not distinct from $rate_unit
            and run_steps.loss_worst_exchange is not null
        group by configurations.configuration_id, run_steps.offered_rate
        order by configurations.configuration_id, run_steps.offered_rate
        limit $most
        """,
        {"tool": tool, "protocol": protocol, "rate_unit": rate_unit, "most": MOST_ROWS},
    )


def capacities(
    warehouse: Warehouse, tool: str, protocol: str | None, rate_unit: str | None, loss_goal: str
) -> pa.Table:
    """Return configuration, rate and status of each measured capacity within a loss goal, fastest first."""
    return warehouse.query(
        """
        select configuration, rate, status from capacity
        where origin = 'measured' and loss_goal = $loss_goal and rate is not null
            and tool = $tool
            and protocol is not distinct from $protocol
            and rate_unit is not distinct from $rate_unit
        order by rate desc, configuration_id
        """,
        {"tool": tool, "protocol": protocol, "rate_unit": rate_unit, "loss_goal": loss_goal},
    )
