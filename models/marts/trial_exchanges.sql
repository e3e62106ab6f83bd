with

exchanges as (

    select * from {{ ref('stg_exchanges') }}

)

select
    trial_id,
    batch,
    exchange,
    position,
    sent,
    received,
    drops,
    drop_ratio,
    drop_ratio_printed,
    orphans,
    rejected,
    non_unique,
    collected,
    min_delay_ms,
    avg_delay_ms,
    max_delay_ms,
    stdev_delay_ms
from exchanges
