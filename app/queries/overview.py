"""The questions of the overview beside the figures: what changed, what is new, and how fresh is it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def version_changes(warehouse: Warehouse, loss_goal: str) -> pa.Table:
    """Return each series in which two versions were run: its latest version beside the one before it.

    The level of a version is that of its last run in `trends`; in a series of less than four runs with a bracket,
    which has none (inference.changes), it is the median of the version's runs. It changed where a change point lies
    after the last run of the version before; without one the two levels are the same, whatever single runs say.

    Returns:
        One row per series, changed ones first: series_id, series, rate_unit, version, previous_version, level,
        previous_level (per second), runs and previous_runs of the two, started_at of the latest run, and verdict
        (faster, slower, no evidence, too few runs).
    """
    return warehouse.query(
        """
        with

        points as (

            select
                *,
                sum(cast(is_version_changed as integer)) over (partition by series_id order by place) as stretch,
                count(rate_interpolated) over (partition by series_id) as crossings
            from trends
            where loss_goal = $loss_goal

        ),

        stretches as (

            select
                series_id,
                stretch,
                any_value(series) as series,
                any_value(rate_unit) as rate_unit,
                any_value(crossings) as crossings,
                any_value(product_version) as version,
                if(any_value(crossings) < 4, median(rate_interpolated), arg_max(level, place)) as level,
                count(*) as runs,
                bool_or(is_change) as is_changed,
                max(started_at) as started_at
            from points
            group by series_id, stretch

        ),

        beside as (

            select
                *,
                lag(version) over in_time as previous_version,
                lag(level) over in_time as previous_level,
                lag(runs) over in_time as previous_runs
            from stretches
            window in_time as (partition by series_id order by stretch)
            qualify row_number() over (partition by series_id order by stretch desc) = 1

        )

        select
            series_id, series, rate_unit, version, previous_version, level, previous_level, runs, previous_runs,
            started_at,
            case
                when crossings < 4 or level is null or previous_level is null then 'too few runs'
                when is_changed and level > previous_level then 'faster'
                when is_changed and level < previous_level then 'slower'
                else 'no evidence'
            end as verdict
        from beside
        where previous_runs is not null
        order by
            verdict not in ('slower', 'faster'), abs(ln(nullif(level, 0) / nullif(previous_level, 0))) desc nulls last,
            started_at desc nulls last, series, series_id
        """,
        {"loss_goal": loss_goal},
    )


def most_measured(warehouse: Warehouse) -> str | None:
    """Return the unit in which most configurations have a measured capacity; None without any."""
    table = warehouse.query("""
        select rate_unit from capacity
        where origin = 'measured'
        group by rate_unit
        order by count(distinct configuration_id) desc, rate_unit
        limit 1
        """)
    return str(table["rate_unit"][0]) if table.num_rows else None


def fresh_findings(warehouse: Warehouse) -> pa.Table:
    """Return what weakens figures in the campaigns of the newest batch: severity, finding, findings, campaigns."""
    return warehouse.query("""
        select
            quality_findings.severity,
            quality_findings.finding,
            count(*) as findings,
            list(distinct quality_findings.campaign order by quality_findings.campaign) as campaigns
        from quality_findings
        inner join campaigns on quality_findings.campaign = campaigns.campaign and campaigns.origin = 'measured'
        where quality_findings.severity <> 'info'
            and campaigns.last_batch = (select max(last_batch) from campaigns)
        group by quality_findings.severity, quality_findings.finding
        order by quality_findings.severity <> 'suspect', findings desc, quality_findings.finding
        """)


def freshness(warehouse: Warehouse) -> dict[str, Any]:
    """Return last_started_at (UTC; of the newest trial), last_batch and its campaigns; None and empty without any."""
    table = warehouse.query("""
        select
            max(last_started_at) as last_started_at,
            max(last_batch) as last_batch,
            coalesce(
                list(campaign order by campaign)
                    filter (where last_batch = (select max(last_batch) from campaigns)), []
            ) as campaigns
        from campaigns
        """)
    return dict(table.to_pylist()[0])
