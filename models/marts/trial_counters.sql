with

counters as (

    select * from {{ ref('int_counters') }}

)

select
    trial_id,
    host,
    metric,
    label,
    unit,
    value_before,
    value_after,
    change
from counters
