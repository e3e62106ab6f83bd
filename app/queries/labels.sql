select
    configuration_id,
    concat(
        configuration, ' (', campaign, ')',
        case when count(*) over (partition by configuration, campaign) > 1
                then ' #' || left(configuration_id, 6)
        end
    ) as label
from configurations
order by origin, label
