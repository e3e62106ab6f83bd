"""The questions of the page of one run: what was watched beside a trial, and where its queries went.

The rows of trials stand in the order of their batches, so that a trial is found among millions by naming its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dropline.app.queries import MOST_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

MOST_SHARES: Final = 400  # points of a distribution


def watched(warehouse: Warehouse, trial_id: str, campaign: str) -> pa.Table:
    """Return what was read beside a trial over its time: metric, series, unit, is_rate, t_s, value.

    What a server or the kernel counts (its name has a dot) and what in the whole campaign falls in fewer than one of
    fifty steps, as after a restart, is a counter: its value is the growth per second since the reading before, and
    nothing where it falls. Everything else is shown as it was read. What never changes stays out. Where there are
    more readings than a chart can hold, neighbours are put together: the mean of rates, the largest of others.
    """
    return warehouse.query(
        """
        with

        of_campaign as (

            select batch from trials
            where campaign = $campaign

        ),

        steps as (

            select
                trial_id, metric, host, label, unit, t_s, value,
                value - lag(value) over readings as growth,
                t_s - lag(t_s) over readings as seconds
            from trial_observations
            where t_s is not null and isfinite(value)
                and campaign = $campaign
                and batch between (select min(batch) from of_campaign) and (select max(batch) from of_campaign)
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
        {"id": trial_id, "campaign": campaign, "most": MOST_ROWS},
    )


def accounting(warehouse: Warehouse, trial_id: str) -> dict[str, Any]:
    """Return the row of `query_accounting` of a trial; empty where nothing was watched or it is none of DNS."""
    rows: list[dict[str, Any]] = warehouse.query(
        "select * from query_accounting where trial_id = $id", {"id": trial_id}
    ).to_pylist()
    return rows[0] if rows else {}


def counters(warehouse: Warehouse, trial_id: str, batch: str) -> pa.Table:
    """Return the counters that changed during a trial, the largest change first.

    Counters of which a snapshot was taken before and after, and those that tell their change themselves (udp.*,
    without both values): metric, label, host, unit, value_before, value_after, change.
    """
    return warehouse.query(
        """
        with

        snapshots as (

            select metric, label, host, unit, value_before, value_after, change from trial_counters
            where trial_id = $id and batch = $batch

        ),

        changes as (

            select metric, label, host, unit, null as value_before, null as value_after, sum(value) as change
            from trial_observations
            where trial_id = $id and batch = $batch and moment is null and t_s is null and contains(metric, '.')
            group by metric, label, host, unit

        )

        select * from (from snapshots union all from changes)
        where change <> 0
        order by abs(change) desc, metric, label, host
        """,
        {"id": trial_id, "batch": batch},
    )


def response_times(warehouse: Warehouse, trial_id: str, batch: str) -> pa.Table:
    """Return the response times of a trial, ms: source, then min, avg, p50, p90, p99, max, stdev.

    One row per what the generator sums up and one for the probes beside it; exchanges have their own table.
    """
    return warehouse.query(
        """
        with

        of_trial as materialized (  -- one look at the millions of others

            select label, metric, moment, t_s, unit, value from trial_observations
            where trial_id = $id and batch = $batch

        ),

        figures as (

            select coalesce(label, 'generator') as source, metric, value
            from of_trial
            where t_s is null and moment is null and starts_with(metric, 'latency_') and unit = 'ms'

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
            from of_trial
            where metric = 'probe_latency'
            having count(*) > 0

        )

        from summed_up
        union all
        from probes
        """,
        {"id": trial_id, "batch": batch},
    )


def response_shares(warehouse: Warehouse, trial_id: str, batch: str) -> pa.Table:
    """Return the distribution of the response times of a trial, as far as more than its ends and mean is known.

    Columns: source, kind (`each`: every answer is known, from packets dumped or probes; `summary`: percentiles of the
    generator), time_ms, share_ratio (of answers that took at most so long, by rank) and n (answers; null for a
    summary). Of many answers every n-th is there, with the first and the last.
    """
    return warehouse.query(
        """
        with

        readings as (

            select coalesce(label, 'generator') as source, metric, value as time_ms
            from trial_observations
            where trial_id = $id and batch = $batch and value > 0
                and (metric in ('response_time', 'probe_latency') or starts_with(metric, 'latency_'))

        ),

        ranked as (

            select
                if(metric = 'probe_latency', 'probes', source) as answers,
                time_ms,
                row_number() over (partition by answers order by time_ms) as place,
                count(*) over (partition by answers) as n
            from readings
            where metric in ('response_time', 'probe_latency')

        ),

        percentiles as (

            select
                source,
                time_ms,
                case metric
                    when 'latency_min' then 0
                    when 'latency_max' then 1
                    else cast(nullif(regexp_extract(metric, '^latency_p([0-9]+)$', 1), '') as double) / 100
                end as share_ratio
            from readings

        )

        select answers as source, 'each' as kind, time_ms, place / n as share_ratio, n
        from ranked
        where place in (1, n) or place % cast(ceil(n / $most) as bigint) = 0
        union all
        select source, 'summary', time_ms, share_ratio, null
        from percentiles
        where share_ratio is not null
            and source in (select source from percentiles where share_ratio > 0 and share_ratio < 1)
        order by kind, source, time_ms, share_ratio
        """,
        {"id": trial_id, "batch": batch, "most": MOST_SHARES},
    )


def configurations(warehouse: Warehouse) -> dict[str, bool]:
    """Return which configurations have runs, and whether any of these has a figure."""
    table = warehouse.query(
        "select configuration_id, count(rate) > 0 as has_figure from runs group by configuration_id"
    )
    return dict(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))
