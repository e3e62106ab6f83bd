with

pairs as (

    select * from {{ ref('int_capacity_pairs') }}
    where factor = 'backend'

),

capacity as (

    select * from {{ ref('capacity') }}

)

select
    treatment.origin,
    treatment.campaign,
    treatment.loss_goal,
    treatment.rate_unit,
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
    pairs.treatment_rate as rate,
    pairs.baseline_rate as reference_rate,
    pairs.ratio,
    pairs.ratio_interpolated,
    pairs.ci_low,
    pairs.ci_high,
    pairs.p_value,
    pairs.p_value_holm,
    pairs.verdict,
    pairs.baseline_runs as runs_reference,
    pairs.treatment_runs as runs_backend,
    {{ worse_quality('baseline.quality', 'treatment.quality') }} as quality,
    baseline.campaign as campaign_reference,
    pairs.baseline_configuration_id as configuration_id_reference,
    pairs.treatment_configuration_id as configuration_id_backend
from pairs
inner join capacity as baseline
    on pairs.baseline_configuration_id = baseline.configuration_id
        and pairs.loss_goal = baseline.loss_goal
inner join capacity as treatment
    on pairs.treatment_configuration_id = treatment.configuration_id
        and pairs.loss_goal = treatment.loss_goal
