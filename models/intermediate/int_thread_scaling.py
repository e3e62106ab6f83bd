"""The Universal Scalability Law of every family of thread counts: one row per family, fitted or refused."""

import pyarrow as pa

from dropline.inference.groups import described
from dropline.inference.scaling import summarise

NUMBERS = [
    *("rate_one_thread", "rate_one_thread_ci_low", "rate_one_thread_ci_high"),
    *("sigma", "sigma_ci_low", "sigma_ci_high", "kappa", "kappa_ci_low", "kappa_ci_high"),
    *("peak_threads", "peak_threads_ci_low", "peak_threads_ci_high"),
    *("residual_ratio", "next_rate", "next_gain_ratio"),
]
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("family_id", "status", "reason")),
        *((name, pa.float64()) for name in NUMBERS),
        ("next_threads", pa.int32()),
        ("threads_above_cores", pa.list_(pa.int32())),
    ]
)
COLUMNS = ["family_id", "threads", "rates", "spread_within_bracket", "is_used", "cpu_cores"]


def model(dbt, session):
    """Return the rows of the families that this build computes; dbt puts them into the warehouse."""
    dbt.config(materialized="table")
    return described(dbt.ref("int_thread_points"), COLUMNS, _scaling, SCHEMA)


def _scaling(family):
    points = family.to_pylist()
    used = [point for point in points if point["is_used"]]
    runs = [(point["threads"], rate) for point in used for rate in point["rates"]]
    within = {point["threads"]: point["spread_within_bracket"] for point in used if point["spread_within_bracket"]}
    cores = min((point["cpu_cores"] for point in points if point["cpu_cores"] is not None), default=None)
    law = summarise([threads for threads, _ in runs], [rate for _, rate in runs], cores, within)
    return {"family_id": [points[0]["family_id"]], **{name: [value] for name, value in law.items()}}
