with

lines as (

    select
        *,
        -- at most some 4,400 points: a browser draws 5,000 smoothly
        position // cast(ceil(3 * count(*) over () / 4400) as bigint) as bucket,
        t_s - coalesce(lag(t_s) over (partition by exchange order by position), 0) as seconds
    from trial_intervals
    where trial_id = $trial_id and batch = $batch and t_s is not null

),

buckets as (

    select
        exchange,
        max(t_s) as t_s,
        sum(interval_sent) / nullif(sum(seconds), 0) as sent,
        sum(interval_received) / nullif(sum(seconds), 0) as received,
        sum(interval_drops) / nullif(sum(seconds), 0) as drops
    from lines
    group by exchange, bucket

)

unpivot buckets on sent, received, drops into name series value packets_per_s
order by exchange, series, t_s
