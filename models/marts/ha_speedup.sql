with

pairs as (

    select * from {{ ref('int_capacity_pairs') }}
    where factor = 'ha_mode'
        and loss_goal = 'isc'

),

capacity as (

    select * from {{ ref('capacity') }}

)

select
    treatment.origin,
    treatment.campaign,
    treatment.product,
    treatment.product_version,
    treatment.protocol,
    treatment.ha_mode,
    treatment.backend,
    treatment.threading,
    treatment.threads,
    treatment.scenario,
    treatment.testbed,
    pairs.baseline_rate as lps_without_ha,
    pairs.treatment_rate as lps_with_ha,
    pairs.ratio,
    pairs.ratio_interpolated,
    pairs.ci_low,
    pairs.ci_high,
    pairs.p_value,
    pairs.p_value_holm,
    pairs.verdict,
    pairs.baseline_runs as runs_without_ha,
    pairs.treatment_runs as runs_with_ha,
    {{ worse_quality('baseline.quality', 'treatment.quality') }} as quality,
    baseline.campaign as campaign_without_ha,
    pairs.baseline_configuration_id as configuration_id_without_ha,
    pairs.treatment_configuration_id as configuration_id_with_ha
from pairs
inner join capacity as baseline
    on pairs.baseline_configuration_id = baseline.configuration_id
        and pairs.loss_goal = baseline.loss_goal
inner join capacity as treatment
    on pairs.treatment_configuration_id = treatment.configuration_id
        and pairs.loss_goal = treatment.loss_goal
where treatment.rate_unit = 'leases/s'
