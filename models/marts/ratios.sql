with

pairs as (

    select * from {{ ref('int_capacity_pairs') }}

),

capacity as (

    select * from {{ ref('capacity') }}

)

select
    pairs.factor,
    treatment.origin,
    treatment.campaign,
    baseline.campaign as baseline_campaign,
    pairs.loss_goal,
    pairs.rate_unit,
    treatment.configuration as treatment,
    baseline.configuration as baseline,
    pairs.treatment_rate,
    pairs.baseline_rate,
    pairs.ratio,
    {{ ratio_qualifier('treatment.qualifier', 'baseline.qualifier') }} as qualifier,
    pairs.ratio_interpolated,
    pairs.ci_low,
    pairs.ci_high,
    pairs.p_value,
    pairs.p_value_holm,
    pairs.verdict,
    pairs.treatment_runs,
    pairs.baseline_runs,
    {{ worse_quality('baseline.quality', 'treatment.quality') }} as quality,
    pairs.treatment_configuration_id,
    pairs.baseline_configuration_id
from pairs
inner join capacity as baseline
    on pairs.baseline_configuration_id = baseline.configuration_id
        and pairs.loss_goal = baseline.loss_goal
inner join capacity as treatment
    on pairs.treatment_configuration_id = treatment.configuration_id
        and pairs.loss_goal = treatment.loss_goal
