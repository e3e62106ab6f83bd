select
    ratios.factor,
    treatment.product,
    treatment.product_version,
    treatment.protocol,
    treatment.ha_mode,
    treatment.backend,
    treatment.threading,
    treatment.threads,
    case ratios.factor
        when 'threading' then 'single'
        when 'ha_mode' then 'single server'
        else baseline.backend
    end as reference,
    ratios.rate_unit,
    ratios.baseline_rate as reference_rate,
    ratios.treatment_rate as rate,
    ratios.ratio,
    ratios.ratio_interpolated,
    ratios.ci_low,
    ratios.ci_high,
    if(ratios.p_value_holm < 0.001, '< 0.001', format('{:.2g}', ratios.p_value_holm)) as p_value_holm,
    ratios.verdict,
    coalesce(ratios.treatment_runs || ' / ' || coalesce(ratios.baseline_runs::varchar, '?'), '') as runs,
    ratios.baseline_configuration_id,
    ratios.treatment_configuration_id,
    concat_ws(' / ', ratios.campaign, nullif(ratios.baseline_campaign, ratios.campaign)) as campaigns,
    ratios.fairness,
    ratios.differences,
    ratios.unstated_aspects
from ratios
inner join configurations as treatment on ratios.treatment_configuration_id = treatment.configuration_id
inner join configurations as baseline on ratios.baseline_configuration_id = baseline.configuration_id
where
    ratios.loss_goal = ratios.usual_goal
    and ratios.factor <> 'protocol'
    and (ratios.factor <> 'backend' or baseline.backend < treatment.backend)
    and ratios.baseline_configuration_id in (select unnest($ids))
    and ratios.treatment_configuration_id in (select unnest($ids))
order by
    ratios.campaign,
    treatment.product,
    treatment.product_version,
    treatment.protocol,
    treatment.ha_mode <> 'none',
    treatment.ha_mode,
    treatment.backend,
    reference,
    treatment.threads,
    ratios.baseline_configuration_id,
    ratios.treatment_configuration_id
