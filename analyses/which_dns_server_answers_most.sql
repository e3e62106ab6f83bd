-- Which DNS server answers most queries per second, and was that sustained or only the most that came back?
with

answered as (

    select * from {{ ref('queries_per_second') }}
    where rate > 0

),

ranked as (

    select
        configuration,
        campaign,
        transport,
        kind,
        rate,
        loss_packet,
        error_ratio,
        latency_avg_ms,
        latency_p95_ms,
        runs,
        quality
    from answered

)

select * from ranked
order by kind = 'sustained' desc, rate desc, configuration asc
