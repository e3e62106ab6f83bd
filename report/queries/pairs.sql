with

compared as (

    select
        ratios.*,
        treatment.product,
        treatment.product_version,
        treatment.protocol,
        treatment.ha_mode,
        treatment.backend,
        treatment.threads,
        treatment.threading
        || if(treatment.threading = 'multi' and treatment.threads > 0, ' ×' || treatment.threads, '') as threading,
        case ratios.factor
            when 'threading' then 'single'
            when 'ha_mode' then 'single server'
            else baseline.backend
        end as reference
    from ratios
    inner join configurations as treatment on ratios.treatment_configuration_id = treatment.configuration_id
    inner join configurations as baseline on ratios.baseline_configuration_id = baseline.configuration_id
    where
        ratios.loss_goal = ratios.usual_goal
        and ratios.factor <> 'protocol'
        and (ratios.factor <> 'backend' or baseline.backend < treatment.backend)
        and ratios.baseline_configuration_id in (select unnest($ids))
        and ratios.treatment_configuration_id in (select unnest($ids))

)

select
    compared.factor,
    concat_ws(
        ' ',
        compared.product,
        compared.product_version,
        compared.protocol,
        if(compared.factor <> 'backend', nullif(compared.backend, 'none'), null),
        if(compared.factor <> 'threading', compared.threading, null),
        if(compared.factor <> 'ha_mode', nullif(compared.ha_mode, 'none'), null)
    ) as set_up,
    case compared.factor
        when 'threading' then compared.threading
        when 'ha_mode' then compared.ha_mode
        else compared.backend
    end || ' against ' || compared.reference as comparison,
    compared.rate_unit,
    compared.baseline_rate as reference_rate,
    compared.treatment_rate as rate,
    compared.ratio,
    compared.ratio_interpolated,
    compared.ci_low,
    compared.ci_high,
    if(compared.p_value_holm < 0.001, '< 0.001', format('{:.2g}', compared.p_value_holm)) as p_value_holm,
    compared.verdict,
    coalesce(compared.treatment_runs || ' / ' || coalesce(compared.baseline_runs::varchar, '?'), '') as runs,
    compared.baseline_configuration_id,
    compared.treatment_configuration_id,
    concat_ws(' / ', compared.campaign, nullif(compared.baseline_campaign, compared.campaign)) as campaigns,
    compared.fairness,
    {
        'text': compared.fairness,
        'detail': concat_ws(
            '; ',
            case
                when compared.differences = 1 then '1 other difference'
                when compared.differences > 1 then format('{:,} other differences', compared.differences)
            end,
            'not stated: ' || nullif(array_to_string(compared.unstated_aspects, ', '), '')
        )
    } as fairness_shown,
    compared.is_in_turn,
    compared.series_variation
from compared
order by
    compared.campaign,
    compared.product,
    compared.product_version,
    compared.protocol,
    compared.ha_mode <> 'none',
    compared.ha_mode,
    compared.backend,
    compared.reference,
    compared.threads,
    compared.baseline_configuration_id,
    compared.treatment_configuration_id
