with

observations as (

    select * from {{ ref('stg_observations') }}

)

select
    trial_id,
    campaign,
    host,
    metric,
    label,
    t_s,
    value,
    unit
from observations
