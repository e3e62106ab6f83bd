select
    'threads: multi over single' as factor,
    protocol,
    backend,
    ha_mode,
    threads,
    coalesce(ratio_interpolated, speedup) as ratio,
    ci_low,
    ci_high,
    lps_single as lps_without,
    lps_multi as lps_with,
    runs_single as runs_without,
    runs_multi as runs_with,
    verdict,
    quality,
    origin,
    campaign
from multithreading_speedup
where list_contains($ids, configuration_id_single) or list_contains($ids, configuration_id_multi)
union all
select
    'HA: with over without' as factor,
    protocol,
    backend,
    ha_mode,
    threads,
    coalesce(ratio_interpolated, ratio) as ratio,
    ci_low,
    ci_high,
    lps_without_ha,
    lps_with_ha,
    runs_without_ha,
    runs_with_ha,
    verdict,
    quality,
    origin,
    campaign
from ha_speedup
where list_contains($ids, configuration_id_without_ha) or list_contains($ids, configuration_id_with_ha)
order by factor desc, ratio desc
