with

ratios as (

    select * from {{ ref('ratios').include(database=false) }}
    where factor = 'backend'

),

configurations as (

    select * from {{ ref('configurations').include(database=false) }}

)

select
    ratios.origin,
    ratios.campaign,
    ratios.loss_goal,
    ratios.rate_unit,
    treatment.product,
    treatment.product_version,
    treatment.protocol,
    treatment.ha_mode,
    treatment.threading,
    treatment.threads,
    treatment.backend,
    baseline.backend as reference_backend,
    treatment.scenario,
    treatment.testbed,
    ratios.treatment_rate as rate,
    ratios.baseline_rate as reference_rate,
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
    ratios.baseline_runs as runs_reference,
    ratios.treatment_runs as runs_backend,
    ratios.quality,
    ratios.baseline_campaign as campaign_reference,
    ratios.baseline_configuration_id as configuration_id_reference,
    ratios.treatment_configuration_id as configuration_id_backend
from ratios
inner join configurations as treatment on ratios.treatment_configuration_id = treatment.configuration_id
inner join configurations as baseline on ratios.baseline_configuration_id = baseline.configuration_id
