with

snapshots as (

    select * from {{ ref('trial_observations').include(database=false) }}
    where trial_id is not null and moment is not null

),

{{ changes_of_counters() }}

select
    trial_id,
    batch,
    host,
    metric,
    label,
    unit,
    value_before,
    value_after,
    change
from counters
