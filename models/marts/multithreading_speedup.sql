with

ratios as (

    select * from {{ ref('ratios').include(database=false) }}
    where factor = 'threading'
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
    treatment.threads,
    treatment.scenario,
    treatment.testbed,
    ratios.baseline_rate as lps_single,
    ratios.treatment_rate as lps_multi,
    ratios.ratio as speedup,
    ratios.qualifier,
    ratios.ratio_interpolated,
    ratios.ci_low,
    ratios.ci_high,
    ratios.p_value,
    ratios.p_value_holm,
    ratios.verdict,
    ratios.fairness,
    ratios.worst_differences,
    ratios.baseline_runs as runs_single,
    ratios.treatment_runs as runs_multi,
    ratios.quality,
    ratios.baseline_campaign as campaign_single,
    ratios.baseline_configuration_id as configuration_id_single,
    ratios.treatment_configuration_id as configuration_id_multi
from ratios
inner join configurations as treatment on ratios.treatment_configuration_id = treatment.configuration_id
