"""Level, dips and changes of level of series of runs: one row per run and loss goal."""

import pyarrow as pa
import pyarrow.compute as pc

from dropline.inference.changes import Brackets, trend
from dropline.inference.groups import described

ALPHA = 0.009  # a little below 1 %, which is then kept also where the noise is not quite normal
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
        ("change_p_value", pa.float64()),
    ]
)


def model(dbt, session):
    """Return the rows of all series; dbt puts them into the warehouse."""
    dbt.config(materialized="table")
    known = ["rate_interpolated", "crossing_low", "crossing_high", "bracket_low", "bracket_high"]
    return described(dbt.ref("int_trend_points"), ["series_id", "place", *known], _trend, SCHEMA)


def _trend(series):
    bracketed = series.filter(pc.is_valid(series["rate_interpolated"]))
    known = ("crossing_low", "crossing_high", "bracket_low", "bracket_high")
    brackets = Brackets(*(bracketed[name].to_numpy() for name in known))
    found = trend(bracketed["rate_interpolated"].to_numpy(), ALPHA, brackets)
    index = {place: index for index, place in enumerate(bracketed["place"].to_pylist())}
    changes = {change.index: change for change in found.changes}
    places = series["place"].to_pylist()
    at = [index.get(place) for place in places]
    here = [changes.get(each) for each in at]
    return {
        "series_id": series["series_id"].to_pylist(),
        "place": places,
        "level": [None if each is None else float(found.levels[each]) for each in at],
        "is_dip": [each is not None and bool(found.dips[each]) for each in at],
        "is_change": [change is not None for change in here],
        "level_before": [change and change.before for change in here],
        "is_drift": [change is not None and change.is_drift for change in here],
        "is_spread_changed": [change is not None and change.is_spread_changed for change in here],
        "change_p_value": [change and change.p_value for change in here],
    }
