"""The questions of the page Trends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from app.warehouse import Warehouse


def series(warehouse: Warehouse, loss_goal: str) -> pa.Table:
    """Return each series of runs within a loss goal, those with changes and many runs first.

    Columns: series_id, label (series with its tool and, where they differ, method), runs, versions, changes, dips.
    """
    return warehouse.query(
        """
        select
            series_id,
            concat_ws(' · ', any_value(series), any_value(tool), any_value(testbed))
            || case
                when count(*) over (
                    partition by concat_ws(' · ', any_value(series), any_value(tool), any_value(testbed))
                ) > 1 then ' #' || left(series_id, 6) else ''
            end as label,
            count(*) as runs,
            count(distinct product_version) as versions,
            count(*) filter (where is_change) as changes,
            count(*) filter (where is_dip) as dips
        from trends
        where loss_goal = $loss_goal
        group by series_id
        order by changes desc, runs desc, label
        """,
        {"loss_goal": loss_goal},
    )


def points(warehouse: Warehouse, series_id: str) -> pa.Table:
    """Return the runs of a series in the order of time, with all columns of `trends`."""
    return warehouse.query("select * from trends where series_id = $series order by place", {"series": series_id})
