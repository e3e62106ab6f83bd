"""Level, dips and changes of level of series of runs: one row per run and loss goal."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dropline.inference.changes import Brackets, trend
from dropline.inference.groups import described

ALPHA = 0.009  # a little below 1 %, which is then kept also where the noise is not quite normal
MARKS = ("is_drift", "is_spread_changed", "is_other_session")
SCHEMA = pa.schema(
    [
        ("series_id", pa.string()),
        ("place", pa.int64()),
        ("level", pa.float64()),
        ("is_dip", pa.bool_()),
        ("is_change", pa.bool_()),
        ("level_before", pa.float64()),
        ("is_drift", pa.bool_()),
        ("is_spread_changed", pa.bool_()),
        ("is_other_session", pa.bool_()),
        ("change_p_value", pa.float64()),
    ]
)


def model(dbt, session):
    """Return the rows of all series; dbt puts them into the warehouse."""
    dbt.config(materialized="table")
    known = ["rate_interpolated", "crossing_low", "crossing_high", "bracket_low", "bracket_high", "is_left_out"]
    return described(dbt.ref("int_trend_points"), ["series_id", "place", "session", *known], _trend, SCHEMA)


def _trend(series):
    is_rated = pc.is_valid(series["rate_interpolated"])
    is_used = pc.and_not(is_rated, series["is_left_out"])
    used = series.filter(is_used)
    known = ("crossing_low", "crossing_high", "bracket_low", "bracket_high")
    brackets = Brackets(*(used[name].to_numpy() for name in known))
    found = trend(used["rate_interpolated"].to_numpy(), ALPHA, brackets, used["session"].to_numpy())
    at = np.flatnonzero(is_used)
    columns = {
        "series_id": series["series_id"].to_pylist(),
        "place": series["place"].to_pylist(),
        **{name: [None] * len(series) for name in ("level", "level_before", "change_p_value")},
        **{name: [False] * len(series) for name in ("is_dip", "is_change", *MARKS)},
    }
    for row, level, is_dip in zip(at.tolist(), found.levels.tolist(), found.dips.tolist(), strict=True):
        columns["level"][row], columns["is_dip"][row] = level, is_dip
    for row in np.flatnonzero(pc.and_not(is_rated, is_used)).tolist():
        before = max(np.searchsorted(at, row) - 1, 0)
        columns["level"][row] = float(found.levels[before]) if at.size else None
        columns["is_dip"][row] = True
    for change in found.changes:
        row = at[change.index]
        columns["is_change"][row] = True
        columns["level_before"][row] = change.before
        for name in MARKS:
            columns[name][row] = getattr(change, name)
        columns["change_p_value"][row] = change.p_value
    return columns
