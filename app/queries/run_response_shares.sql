-- The distribution of the response times of a trial, if more than its ends and mean is known. kind: `each`, where every
-- answer is known, or `summary`, the percentiles of the generator; share_ratio: of the answers within time_ms, by rank;
-- n: answers. Of many answers every n-th, with the first and the last.
with

readings as (

    select
        coalesce(label, 'generator') as source,
        metric,
        value as time_ms
    from trial_observations
    where trial_id = $trial_id and batch = $batch and value > 0
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

),

summed_up as (

    select distinct source from percentiles
    where share_ratio > 0 and share_ratio < 1

)

select
    answers as source,
    'each' as kind,
    time_ms,
    place / n as share_ratio,
    n
from ranked
where place in (1, n) or place % cast(ceil(n / $most) as bigint) = 0
union all
select
    source,
    'summary' as kind,
    time_ms,
    share_ratio,
    null as n
from percentiles
where share_ratio is not null
    and source in (from summed_up)
order by kind, source, time_ms, share_ratio
