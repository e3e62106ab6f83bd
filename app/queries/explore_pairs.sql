select
    'threading' as factor,
    count(*) as pairs
from multithreading_speedup
where $id in (configuration_id_multi, configuration_id_single)
union all
select
    'ha_mode' as factor,
    count(*) as pairs
from ha_speedup
where $id in (configuration_id_with_ha, configuration_id_without_ha)
union all
select
    'backend' as factor,
    count(*) as pairs
from backend_ratio
where loss_goal in ('isc', 'unstated') and $id in (configuration_id_backend, configuration_id_reference)
union all
select
    'ip_version' as factor,
    count(*) as pairs
from ip_version_ratio
where loss_goal = 'isc' and $id in (configuration_id_v6, configuration_id_v4)
order by pairs desc, factor asc
