with

snapshots as (

    select * from {{ ref('int_observations') }}
    where trial_id is not null and moment is not null

),

{{ changes_of_counters() }}

select * from counters
