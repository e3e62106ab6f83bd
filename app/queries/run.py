"""The questions of the page of one run: what was watched beside a trial, and where its queries went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.queries import MOST_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

    from app.warehouse import Warehouse


def watched(warehouse: Warehouse, trial_id: str) -> pa.Table:
    """Return what was read beside a trial over its time: metric, series, unit, is_rate, t_s, value.

    What a server or the kernel counts (its name has a dot) and what in the whole warehouse falls in fewer than one of
    fifty steps, as after a restart, is a counter: its value is the growth per second since the reading before, and
    nothing where it falls. Everything else is shown as it was read. What never changes stays out. Where there are
    more readings than a chart can hold, neighbours are put together: the mean of rates, the largest of others.
    """
    return warehouse.query(
        """
        with

        steps as (

            select
                trial_id, metric, host, label, unit, t_s, value,
                value - lag(value) over readings as growth,
                t_s - lag(t_s) over readings as seconds
            from trial_observations
            where t_s is not null and isfinite(value)
                and metric in (select metric from trial_observations where trial_id = $id)
            window readings as (partition by trial_id, source_path, host, metric, label order by t_s)

        ),

        counters as (

            select metric from steps
            where contains(metric, '.')
            group by metric
            having max(growth) > 0 and count(*) filter (where growth < 0) < 0.02 * count(growth)

        ),

        readings as (

            select
                metric,
                unit,
                concat_ws(' ', host, label) as series,
                metric in (from counters) as is_rate,
                t_s,
                case
                    when metric not in (from counters) then value
                    when growth >= 0 then growth / nullif(seconds, 0)
                end as value
            from steps
            where trial_id = $id

        ),

        buckets as (

            select
                *,
                cast(ceil(count(*) over () / $most) as bigint) as width,
                row_number() over (partition by metric, series order by t_s) - 1 as place
            from readings
            where value is not null

        ),

        averaged as (

            select
                metric, series, any_value(unit) as unit, is_rate, max(t_s) as t_s,
                case when is_rate then avg(value) else max(value) end as value
            from buckets
            group by metric, series, is_rate, place // width

        )

        select * from averaged
        -- failures are there or not: they do not change
        qualify max(value) over (partition by metric) > min(value) over (partition by metric)
            or metric = 'probe_failure'
        order by metric, series, t_s
        """,
        {"id": trial_id, "most": MOST_ROWS},
    )


def accounting(warehouse: Warehouse, trial_id: str) -> dict[str, Any]:
    """Return the row of `query_accounting` of a trial; empty where nothing was watched or it is none of DNS."""
    rows: list[dict[str, Any]] = warehouse.query(
        "select * from query_accounting where trial_id = $id", {"id": trial_id}
    ).to_pylist()
    return rows[0] if rows else {}


def counters(warehouse: Warehouse, trial_id: str) -> pa.Table:
    """Return the counters that changed during a trial, the largest change first.

    Counters of which a snapshot was taken before and after, and those that tell their change themselves (udp.*,
    without both values): metric, label, host, unit, value_before, value_after, change.
    """
    return warehouse.query(
        """
        with

        snapshots as (

            select metric, label, host, unit, value_before, value_after, change from trial_counters
            where trial_id = $id

        ),

        changes as (

            select metric, label, host, unit, null as value_before, null as value_after, sum(value) as change
            from trial_observations
            where trial_id = $id and moment is null and t_s is null and contains(metric, '.')
            group by metric, label, host, unit

        )

        select * from (from snapshots union all from changes)
        where change <> 0
        order by abs(change) desc, metric, label, host
        """,
        {"id": trial_id},
    )


def response_times(warehouse: Warehouse, trial_id: str) -> pa.Table:
    """Return the response times of a trial, ms: source, then min, avg, p50, p90, p99, max, stdev.

    One row per what the generator sums up and one for the probes beside it; exchanges have their own table.
    """
    return warehouse.query(
        """
        with

        figures as (

            select coalesce(label, 'generator') as source, metric, value
            from trial_observations
            where trial_id = $id and t_s is null and moment is null and starts_with(metric, 'latency_') and unit = 'ms'

        ),

        summed_up as (

            select
                source,
                max(value) filter (where metric = 'latency_min') as min,
                max(value) filter (where metric = 'latency_avg') as avg,
                max(value) filter (where metric = 'latency_p50') as p50,
                max(value) filter (where metric = 'latency_p90') as p90,
                max(value) filter (where metric = 'latency_p99') as p99,
                max(value) filter (where metric = 'latency_max') as max,
                max(value) filter (where metric = 'latency_stdev') as stdev
            from figures
            group by source

        ),

        probes as (

            select
                'probes (' || count(*) || ' answered)', min(value), avg(value), quantile_cont(value, 0.5),
                quantile_cont(value, 0.9), quantile_cont(value, 0.99), max(value), stddev_samp(value)
            from trial_observations
            where trial_id = $id and metric = 'probe_latency'
            having count(*) > 0

        )

        from summed_up
        union all
        from probes
        """,
        {"id": trial_id},
    )
