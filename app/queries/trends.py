"""The questions of the page Trends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


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


def series_of(warehouse: Warehouse, configuration_id: str, loss_goal: str) -> str | None:
    """Return the id of the series in which the runs of a configuration stand; None where no run has a capacity."""
    found = warehouse.query(
        "select series_id from trends where configuration_id = $id and loss_goal = $loss_goal limit 1",
        {"id": configuration_id, "loss_goal": loss_goal},
    )
    return str(found["series_id"][0]) if found.num_rows else None
