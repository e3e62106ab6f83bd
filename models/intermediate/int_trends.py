"""Level, dips and changes of level of every series of runs: one row per run and loss goal."""

import pyarrow as pa

from inference.changes import trend
from inference.groups import described

ALPHA = 0.009  # a little below 1 %, which is then kept also where the noise is not quite normal
SCHEMA = pa.schema(
    [
        ("series_id", pa.string()),
        ("place", pa.int64()),
        ("level", pa.float64()),
        ("is_dip", pa.bool_()),
        ("is_change", pa.bool_()),
        ("level_before", pa.float64()),
        ("change_p_value", pa.float64()),
    ]
)


def model(dbt, session):
    """Return the rows of all series; dbt puts them into the warehouse."""
    dbt.config(materialized="table")
    return described(dbt.ref("int_trend_points"), ["series_id", "place", "rate"], _trend, SCHEMA)


def _trend(series):
    rates = series.sort_by("place")["rate"].to_pylist()
    found = trend(rates, ALPHA)
    changes = {change.index: change for change in found.changes}
    here = [changes.get(index) for index in range(len(rates))]
    return pa.table(
        [
            series["series_id"],
            range(1, len(rates) + 1),
            found.levels,
            found.dips,
            [change is not None for change in here],
            [change and change.before for change in here],
            [change and change.p_value for change in here],
        ],
        schema=SCHEMA,
    )
