-- A unique text for each configuration: with testbed and method where only these tell those of a campaign apart.
with

named as (

    select
        configuration_id,
        origin,
        campaign,
        method,
        case
            when count(distinct testbed) over (partition by configuration, campaign) > 1
                then concat_ws(' ', configuration, testbed)
            else configuration
        end as name
    from configurations

),

told_apart as (

    select
        * replace (
            case
                when count(distinct method) over (partition by name, campaign) > 1
                    then concat_ws(', ', name, method)
                else name
            end as name
        )
    from named

)

select
    configuration_id,
    concat(
        name, ' (', campaign, ')',
        case when count(*) over (partition by name, campaign) > 1
                then ' #' || left(configuration_id, 6)
        end
    ) as label
from told_apart
order by origin, label, configuration_id
