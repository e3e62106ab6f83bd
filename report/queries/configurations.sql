select configuration_id
from configurations
where campaign in (select unnest($campaigns))
order by campaign, configuration, configuration_id
