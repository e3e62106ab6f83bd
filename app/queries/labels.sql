-- A unique text for each configuration: with the testbed where only that tells two of a campaign apart.
with

named as (

    select
        configuration_id,
        origin,
        campaign,
        case
            when count(distinct testbed) over (partition by configuration, campaign) > 1
                then concat_ws(' ', configuration, testbed)
            else configuration
        end as name
    from configurations

)

select
    configuration_id,
    concat(
        name, ' (', campaign, ')',
        case when count(*) over (partition by name, campaign) > 1
                then ' #' || left(configuration_id, 6)
        end
    ) as label
from named
order by origin, label
