with

ratios as (

    select * from {{ ref('ratios').include(database=false) }}
    where factor = 'ha_mode'
        and loss_goal = 'isc'
        and rate_unit = 'leases/s'

),

configurations as (

    select * from {{ ref('configurations').include(database=false) }}

)

select
    ratios.origin,
    ratios.campaign,
    treatment.product,
    treatment.product_version,
    treatment.protocol,
    treatment.ha_mode,
    treatment.backend,
    treatment.threading,
    treatment.threads,
    treatment.scenario,
    treatment.testbed,
    ratios.baseline_rate as lps_without_ha,
    ratios.treatment_rate as lps_with_ha,
    ratios.ratio,
    ratios.qualifier,
    ratios.ratio_interpolated,
    ratios.ci_low,
    ratios.ci_high,
    ratios.p_value,
    ratios.p_value_holm,
    ratios.verdict,
    ratios.fairness,
    ratios.worst_differences,
    ratios.baseline_runs as runs_without_ha,
    ratios.treatment_runs as runs_with_ha,
    ratios.quality,
    ratios.baseline_campaign as campaign_without_ha,
    ratios.baseline_configuration_id as configuration_id_without_ha,
    ratios.treatment_configuration_id as configuration_id_with_ha
from ratios
inner join configurations as treatment on ratios.treatment_configuration_id = treatment.configuration_id
