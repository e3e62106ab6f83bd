-- Every mart brought to the same columns: who is compared with whom, and what comes of it. The ratio is that to which
-- interval and verdict belong: of the rates at the limit where both were estimated, else of the figures.
with

ratios as (

    select
        'threading' as factor,
        origin,
        campaign,
        product,
        product_version,
        protocol,
        backend,
        ha_mode,
        testbed,
        threads,
        'multi' || coalesce(' x' || cast(threads as varchar), '') as what,
        'single' as reference,
        lps_multi as rate,
        lps_single as reference_rate,
        coalesce(ratio_interpolated, speedup) as ratio,
        runs_multi as runs,
        runs_single as reference_runs,
        'leases/s' as rate_unit,
        ci_low,
        ci_high,
        p_value_holm,
        verdict,
        quality,
        configuration_id_multi as configuration_id,
        configuration_id_single as reference_id
    from multithreading_speedup
    union all
    select
        'ha_mode' as factor,
        origin,
        campaign,
        product,
        product_version,
        protocol,
        backend,
        ha_mode,
        testbed,
        threads,
        ha_mode || ', ' || coalesce(threading, 'threading not stated') as what,
        'none' as reference,
        lps_with_ha as rate,
        lps_without_ha as reference_rate,
        coalesce(ratio_interpolated, ratio) as ratio,
        runs_with_ha as runs,
        runs_without_ha as reference_runs,
        'leases/s' as rate_unit,
        ci_low,
        ci_high,
        p_value_holm,
        verdict,
        quality,
        configuration_id_with_ha as configuration_id,
        configuration_id_without_ha as reference_id
    from ha_speedup
    union all
    select
        'backend' as factor,
        origin,
        campaign,
        product,
        product_version,
        protocol,
        backend,
        ha_mode,
        testbed,
        threads,
        concat_ws(', ', backend, threading, scenario) as what,
        reference_backend as reference,
        rate,
        reference_rate,
        coalesce(ratio_interpolated, ratio) as ratio,
        runs_backend as runs,
        runs_reference as reference_runs,
        rate_unit,
        ci_low,
        ci_high,
        p_value_holm,
        verdict,
        quality,
        configuration_id_backend as configuration_id,
        configuration_id_reference as reference_id
    from backend_ratio
    where loss_goal in ('isc', 'unstated')
        and coalesce(ratio_interpolated, backend_ratio.ratio) >= 1
    union all
    select
        'ip_version' as factor,
        origin,
        campaign,
        product,
        product_version,
        'DHCPv6' as protocol,
        backend,
        ha_mode,
        testbed,
        threads,
        coalesce(threading, 'threading not stated') as what,
        'DHCPv4' as reference,
        rate_v6 as rate,
        rate_v4 as reference_rate,
        coalesce(ratio_interpolated, ratio) as ratio,
        runs_v6 as runs,
        runs_v4 as reference_runs,
        rate_unit,
        ci_low,
        ci_high,
        p_value_holm,
        verdict,
        quality,
        configuration_id_v6 as configuration_id,
        configuration_id_v4 as reference_id
    from ip_version_ratio
    where loss_goal = 'isc'

),

chosen as (

    select * exclude (factor) from ratios
    where factor = $factor

)

select
    chosen.*,
    fairness.grade,
    fairness.worst,
    if(chosen.origin = 'measured', campaigns.description, null) as campaign_description
from chosen
left join campaigns on chosen.campaign = campaigns.campaign
left join comparison_fairness as fairness
    on fairness.factor = if($factor = 'ip_version', 'protocol', $factor)
        and chosen.reference_id = fairness.baseline_configuration_id
        and chosen.configuration_id = fairness.treatment_configuration_id
order by chosen.origin asc, chosen.ratio desc nulls last, chosen.configuration_id asc, chosen.reference_id asc
