with

intervals as (

    select * from {{ ref('stg_intervals') }}

)

select
    trial_id,
    batch,
    position,
    t_s,
    exchange,
    sent,
    received,
    drops,
    rejected,
    interval_sent,
    interval_received,
    interval_drops
from intervals
