-- The rate units of configurations, and the goal that is usual for each.
select distinct
    rate_unit,
    usual_goal
from configurations
where list_contains($configuration_ids, configuration_id) and rate_unit is not null
order by rate_unit, usual_goal
