with

pairs as (

    select * from {{ ref('int_capacity_pairs') }}
    where factor = 'threading'
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
    treatment.threads,
    treatment.scenario,
    treatment.testbed,
    pairs.baseline_rate as lps_single,
    pairs.treatment_rate as lps_multi,
    pairs.ratio as speedup,
    pairs.ratio_interpolated,
    pairs.ci_low,
    pairs.ci_high,
    pairs.p_value,
    pairs.p_value_holm,
    pairs.verdict,
    pairs.baseline_runs as runs_single,
    pairs.treatment_runs as runs_multi,
    {{ worse_quality('baseline.quality', 'treatment.quality') }} as quality,
    baseline.campaign as campaign_single,
    pairs.baseline_configuration_id as configuration_id_single,
    pairs.treatment_configuration_id as configuration_id_multi
from pairs
inner join capacity as baseline
    on pairs.baseline_configuration_id = baseline.configuration_id
        and pairs.loss_goal = baseline.loss_goal
inner join capacity as treatment
    on pairs.treatment_configuration_id = treatment.configuration_id
        and pairs.loss_goal = treatment.loss_goal
where treatment.rate_unit = 'leases/s'
