"""The Universal Scalability Law of every family of thread counts: one row per family, fitted or refused."""

import pyarrow as pa

from inference.scaling import summarise

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
BY_FAMILY = """
    family_id,
    coalesce(flatten(list(list_transform(rates, lambda rate: threads) order by threads) filter (where is_used)), []),
    coalesce(flatten(list(rates order by threads) filter (where is_used)), []),
    min(cpu_cores)
"""


def model(dbt, session):
    """Return an Arrow table; dbt puts it into the warehouse."""
    dbt.config(materialized="table")
    families = dbt.ref("int_thread_points").aggregate(BY_FAMILY, "family_id").fetchall()
    rows = [{"family_id": family, **summarise(threads, rates, cores)} for family, threads, rates, cores in families]
    return pa.Table.from_pylist(rows, schema=SCHEMA)
