with

ratios as (

    select * from {{ ref('ratios').include(database=false) }}
    where factor = 'protocol'

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
    treatment.ha_mode,
    treatment.threading,
    treatment.threads,
    treatment.backend,
    treatment.scenario,
    treatment.testbed,
    ratios.baseline_rate as rate_v4,
    ratios.treatment_rate as rate_v6,
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
    ratios.baseline_runs as runs_v4,
    ratios.treatment_runs as runs_v6,
    ratios.quality,
    ratios.baseline_campaign as campaign_v4,
    ratios.baseline_configuration_id as configuration_id_v4,
    ratios.treatment_configuration_id as configuration_id_v6
from ratios
inner join configurations as treatment on ratios.treatment_configuration_id = treatment.configuration_id
