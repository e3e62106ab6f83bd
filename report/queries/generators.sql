select
    campaign,
    concat_ws(' ', tool, tool_version) as generator,
    coalesce(method, '') as method,
    coalesce(scenario, '') as scenario,
    drop_time_s,
    count(*) as configurations
from configurations
where configuration_id in (select unnest($ids))
group by campaign, tool, tool_version, method, scenario, drop_time_s
order by campaign, coalesce(tool, ''), coalesce(method, ''), coalesce(scenario, ''), tool_version, drop_time_s
