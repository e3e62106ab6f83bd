-- What does multi-threading bring, and how does it compare with what the Kea 2.0 article implies?
with

speedups as (

    select * from {{ ref('multithreading_speedup') }}

),

article as (

    select
        protocol,
        ha_mode,
        backend,
        speedup
    from speedups
    where campaign = 'isc-kb-kea-2.0'

),

beside_the_article as (

    select
        speedups.campaign,
        speedups.protocol,
        speedups.ha_mode,
        speedups.backend,
        speedups.threads,
        coalesce(speedups.ratio_interpolated, speedups.speedup) as speedup,
        speedups.ci_low,
        speedups.ci_high,
        article.speedup as speedup_of_article
    from speedups
    left join article
        on speedups.protocol = article.protocol
            and speedups.ha_mode = article.ha_mode
            and speedups.backend = article.backend
    where speedups.origin = 'measured'

)

select * from beside_the_article
order by protocol, ha_mode, backend
