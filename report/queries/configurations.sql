select *
from configurations
where configuration_id in (select unnest($ids))
