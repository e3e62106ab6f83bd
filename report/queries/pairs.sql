with
pairs as (
    select
        'threading' as factor,
        product,
        product_version,
        protocol,
        ha_mode,
        backend,
        'multi' as threading,
        threads,
        'single' as reference,
        'leases/s' as rate_unit,
        lps_single as reference_rate,
        lps_multi as rate,
        ratio_interpolated,
        ci_low,
        ci_high,
        p_value_holm,
        verdict,
        runs_single as reference_runs,
        runs_multi as runs,
        configuration_id_single as baseline_configuration_id,
        configuration_id_multi as treatment_configuration_id,
        campaign_single as reference_campaign,
        campaign
    from multithreading_speedup
    union all by name
    select
        'ha_mode' as factor,
        product,
        product_version,
        protocol,
        ha_mode,
        backend,
        threading,
        threads,
        'single server' as reference,
        'leases/s' as rate_unit,
        lps_without_ha as reference_rate,
        lps_with_ha as rate,
        ratio_interpolated,
        ci_low,
        ci_high,
        p_value_holm,
        verdict,
        runs_without_ha as reference_runs,
        runs_with_ha as runs,
        configuration_id_without_ha as baseline_configuration_id,
        configuration_id_with_ha as treatment_configuration_id,
        campaign_without_ha as reference_campaign,
        campaign
    from ha_speedup
    union all by name
    select
        'backend' as factor,
        product,
        product_version,
        protocol,
        ha_mode,
        backend,
        threading,
        threads,
        reference_backend as reference,
        rate_unit,
        reference_rate,
        rate,
        ratio_interpolated,
        ci_low,
        ci_high,
        p_value_holm,
        verdict,
        runs_reference as reference_runs,
        runs_backend as runs,
        configuration_id_reference as baseline_configuration_id,
        configuration_id_backend as treatment_configuration_id,
        campaign_reference as reference_campaign,
        campaign
    from backend_ratio
    where loss_goal = 'isc' and reference_backend < backend
)

select
    pairs.*,
    fairness.grade,
    fairness.differences,
    fairness.unstated_aspects
from pairs
left join comparison_fairness as fairness
    on pairs.factor = fairness.factor
        and pairs.baseline_configuration_id = fairness.baseline_configuration_id
        and pairs.treatment_configuration_id = fairness.treatment_configuration_id
where
    pairs.baseline_configuration_id in (select unnest($ids))
    and pairs.treatment_configuration_id in (select unnest($ids))
order by
    pairs.campaign,
    pairs.product,
    pairs.product_version,
    pairs.protocol,
    pairs.ha_mode <> 'none',
    pairs.ha_mode,
    pairs.backend,
    pairs.reference,
    pairs.threads,
    pairs.baseline_configuration_id,
    pairs.treatment_configuration_id
