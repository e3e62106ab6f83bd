with

chosen as (

    -- named, so that a warehouse of an earlier version is refused
    select * replace (last_passing_rate as last_passing_rate) from capacity
    where loss_goal = coalesce($loss_goal, usual_goal)
        and coalesce(list_contains(cast($configuration_ids as varchar[]), configuration_id), true)

),

published as (

    select capacity.*
    from capacity
    inner join campaigns on capacity.campaign = campaigns.campaign
    where
        capacity.origin = 'published'
        and capacity.loss_goal = coalesce($loss_goal, capacity.usual_goal)
    qualify row_number() over (
            partition by
                capacity.product, capacity.protocol, capacity.backend, capacity.threading, capacity.ha_mode,
                capacity.rate_unit
            order by campaigns.started_on desc nulls last, capacity.product_version desc, capacity.rate desc
        ) = 1

)

select
    chosen.*,
    published.rate as published_rate,
    published.product_version as published_version,
    published.campaign as published_campaign
from chosen
left join published
    on chosen.origin = 'measured'
        and chosen.product is not distinct from published.product
        and chosen.protocol is not distinct from published.protocol
        and chosen.backend is not distinct from published.backend
        and chosen.threading is not distinct from published.threading
        and chosen.ha_mode is not distinct from published.ha_mode
        and chosen.rate_unit = published.rate_unit
order by chosen.origin asc, chosen.rate desc nulls last, chosen.configuration_id asc
