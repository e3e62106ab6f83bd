-- The metrics recorded beside a trial over time. Counters (of a server or the kernel, with a dot in the name, that fall
-- in fewer than one of fifty steps of the campaign) as growth per second, null where they fall; others as they are.
-- Metrics that never change are left out; too many readings are merged, to the mean of rates and the maximum of others.
with

of_campaign as (

    select
        min(batch) as first_batch,
        max(batch) as last_batch
    from trials
    where campaign = $campaign

),

steps as (

    select
        trial_id,
        metric,
        host,
        label,
        unit,
        t_s,
        value,
        value - lag(value) over readings as growth,
        t_s - lag(t_s) over readings as seconds
    from trial_observations
    where t_s is not null and isfinite(value)
        and campaign = $campaign
        and batch between (select of_campaign.first_batch from of_campaign
        ) and (select of_campaign.last_batch from of_campaign
        )
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
    where trial_id = $trial_id

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
        metric,
        series,
        any_value(unit) as unit,
        is_rate,
        max(t_s) as t_s,
        case when is_rate then avg(value) else max(value) end as value
    from buckets
    group by metric, series, is_rate, place // width

)

select * from averaged
-- failures are there or not: they do not change
qualify max(value) over (partition by metric) > min(value) over (partition by metric)
    or metric = 'probe_failure'
order by metric, series, t_s
