with

observations as (

    select * from {{ ref('int_observations') }}

)

select
    trial_id,
    batch,
    campaign,
    source_path,
    host,
    metric,
    label,
    moment,
    {{ utc_time('observed_at') }} as observed_at,
    t_s,
    value,
    unit
from observations
