"""Level, dips and changes of level of every series of runs: one row per run and loss goal."""

import pyarrow as pa

from inference.changes import trend

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
    """Return an Arrow table; dbt puts it into the warehouse."""
    dbt.config(materialized="table")
    series = dbt.ref("int_trend_points").aggregate("series_id, list(rate order by place)", "series_id").fetchall()
    return pa.concat_tables([SCHEMA.empty_table(), *(_described(*one) for one in series)])


def _described(series_id, rates):
    found = trend(rates, ALPHA)
    changes = {change.index: change for change in found.changes}
    here = [changes.get(index) for index in range(len(rates))]
    return pa.table(
        [
            [series_id] * len(rates),
            range(1, len(rates) + 1),
            found.levels,
            found.dips,
            [change is not None for change in here],
            [change and change.before for change in here],
            [change and change.p_value for change in here],
        ],
        schema=SCHEMA,
    )
