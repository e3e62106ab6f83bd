-- Which set-ups answer less and less when asked for more than their capacity, and which hold their rate?
with

beyond as (

    select * from {{ ref('goodput_beyond_capacity') }}

),

configurations as (

    select * from {{ ref('configurations') }}

),

furthest as (

    select
        configuration_id,
        max(offered_ratio) as offered_ratio,
        arg_max(achieved_ratio, offered_ratio) as achieved_ratio,
        arg_max(runs, offered_ratio) as runs
    from beyond
    group by configuration_id

)

select
    configurations.configuration,
    configurations.campaign,
    furthest.runs,
    furthest.offered_ratio,
    furthest.achieved_ratio
from furthest
inner join configurations on furthest.configuration_id = configurations.configuration_id
order by furthest.achieved_ratio asc, configurations.configuration asc
