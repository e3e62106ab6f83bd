"""Level, dips and changes of level of series of runs: one row per run and loss goal."""

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
    """Return the rows of the series that this build computes; dbt puts them into the warehouse."""
    dbt.config(materialized="table")
    return described(dbt.ref("int_trend_points__changed"), ["series_id", "place", "rate"], _trend, SCHEMA)


def _trend(series):
    rates = series["rate"].to_numpy()
    found = trend(rates, ALPHA)
    changes = {change.index: change for change in found.changes}
    here = [changes.get(index) for index in range(len(rates))]
    return {
        "series_id": series["series_id"].to_pylist(),
        "place": range(1, len(rates) + 1),
        "level": found.levels.tolist(),
        "is_dip": found.dips.tolist(),
        "is_change": [change is not None for change in here],
        "level_before": [change and change.before for change in here],
        "change_p_value": [change and change.p_value for change in here],
    }
