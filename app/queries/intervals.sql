-- Packets of a trial per second, by exchange. Interim lines count packets under way as drops, too: lost are those that
-- stay unanswered in all later lines and in the final report.
with

exchanges as (

    select
        exchange,
        position as place,
        drops as drops_at_end
    from trial_exchanges
    where trial_id = $trial_id and batch = $batch

),

lines as (

    select
        intervals.*,
        exchanges.place,
        -- at most some 4,400 points: a browser draws 5,000 smoothly
        intervals.position // cast(ceil(3 * count(*) over () / 4400) as bigint) as bucket,
        intervals.t_s - coalesce(lag(intervals.t_s) over in_time, 0) as seconds,
        least(exchanges.drops_at_end, min(intervals.drops) over from_here_on) as lost
    from trial_intervals as intervals
    left join exchanges on intervals.exchange = exchanges.exchange
    where intervals.trial_id = $trial_id and intervals.batch = $batch and intervals.t_s is not null
    window
        in_time as (partition by intervals.exchange order by intervals.position),
        from_here_on as (in_time rows between current row and unbounded following)

),

buckets as (

    select
        exchange,
        place,
        max(t_s) as t_s,
        sum(interval_sent) / nullif(sum(seconds), 0) as sent,
        sum(interval_received) / nullif(sum(seconds), 0) as received,
        (max(lost) - coalesce(lag(max(lost)) over (partition by exchange order by bucket), 0))
        / nullif(sum(seconds), 0) as drops
    from lines
    group by exchange, place, bucket

)

unpivot buckets on sent, received, drops into name series value packets_per_s
order by place, exchange, series, t_s
