"""The questions of the page Speed-ups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

FACTORS: Final = ("threading", "ha_mode", "backend", "ip_version")

# Every mart brought to the same columns: who is compared with whom, and what comes of it. The ratio is that to which
# interval and verdict belong: of the rates at the limit where both were estimated, else of the figures.
_RATIOS: Final = {
    "threading": """
        select origin, campaign, product, product_version, protocol, backend, ha_mode, testbed,
            threads, 'multi' || coalesce(' x' || cast(threads as varchar), '') as what, 'single' as reference,
            lps_multi as rate, lps_single as reference_rate, coalesce(ratio_interpolated, speedup) as ratio,
            runs_multi as runs, runs_single as reference_runs, 'leases/s' as rate_unit, ci_low, ci_high,
            p_value_holm, verdict, quality,
            configuration_id_multi as configuration_id, configuration_id_single as reference_id
        from multithreading_speedup""",
    "ha_mode": """
        select origin, campaign, product, product_version, protocol, backend, ha_mode, testbed,
            threads, ha_mode || ', ' || coalesce(threading, 'threading not stated') as what, 'none' as reference,
            lps_with_ha as rate, lps_without_ha as reference_rate, coalesce(ratio_interpolated, ratio) as ratio,
            runs_with_ha as runs, runs_without_ha as reference_runs, 'leases/s' as rate_unit, ci_low, ci_high,
            p_value_holm, verdict, quality,
            configuration_id_with_ha as configuration_id, configuration_id_without_ha as reference_id
        from ha_speedup""",
    "backend": """
        select origin, campaign, product, product_version, protocol, backend, ha_mode, testbed,
            threads, concat_ws(', ', backend, threading, scenario) as what, reference_backend as reference,
            rate, reference_rate, coalesce(ratio_interpolated, ratio) as ratio, runs_backend as runs,
            runs_reference as reference_runs, rate_unit, ci_low, ci_high, p_value_holm, verdict, quality,
            configuration_id_backend as configuration_id, configuration_id_reference as reference_id
        from backend_ratio where loss_goal in ('isc', 'unstated')
            and coalesce(ratio_interpolated, backend_ratio.ratio) >= 1""",
    "ip_version": """
        select origin, campaign, product, product_version, 'DHCPv6' as protocol, backend, ha_mode, testbed,
            threads, coalesce(threading, 'threading not stated') as what, 'DHCPv4' as reference,
            rate_v6 as rate, rate_v4 as reference_rate, coalesce(ratio_interpolated, ratio) as ratio, runs_v6 as runs,
            runs_v4 as reference_runs, rate_unit, ci_low, ci_high, p_value_holm, verdict, quality,
            configuration_id_v6 as configuration_id, configuration_id_v4 as reference_id
        from ip_version_ratio where loss_goal = 'isc'""",
}
_FACTOR_OF_FAIRNESS: Final = {"ip_version": "protocol"}


def ratios(warehouse: Warehouse, factor: str) -> pa.Table:
    """Return the pairs that differ in one of FACTORS, measured first, with the grade of their comparison."""
    return warehouse.query(
        f"""
        with ratios as ({_RATIOS[factor]})

        select
            ratios.*,
            fairness.grade,
            fairness.worst
        from ratios
        left join comparison_fairness as fairness
            on fairness.factor = $factor
                and ratios.reference_id = fairness.baseline_configuration_id
                and ratios.configuration_id = fairness.treatment_configuration_id
        order by ratios.origin, ratios.campaign, ratios.protocol, ratios.backend, ratios.ha_mode, ratios.what
        """,  # noqa: S608 -- the text is ours
        {"factor": _FACTOR_OF_FAIRNESS.get(factor, factor)},
    )


def scaling(warehouse: Warehouse) -> pa.Table:
    """Return every family of thread counts at one loss goal, fitted ones first."""
    return warehouse.query("""
        select * from thread_scaling
        where loss_goal in ('isc', 'unstated')
        order by status <> 'fitted', origin, family, campaign
    """)


def scaling_points(warehouse: Warehouse, family_id: str) -> pa.Table:
    """Return the thread counts of a family with the rate of each and the fitted one."""
    return warehouse.query(
        "select * from thread_scaling_points where family_id = $family order by threads", {"family": family_id}
    )
