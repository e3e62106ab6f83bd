-- The effect of threads and HA at the loss goal of the page, or the usual one of each: the pairs of configurations
-- that differ in only one of them.
with

pairs as (

    select
        *,
        coalesce(ratio_interpolated, ratio) as judged_ratio,
        coalesce(judged_ratio, ci_high, ci_low) as known_ratio
    from ratios
    where
        factor in ('threading', 'ha_mode')
        and loss_goal = coalesce($loss_goal, usual_goal)
        -- of two campaigns on machines that nobody names
        and (fairness <> 'unknown' or campaign = baseline_campaign)

),

machines as (

    select distinct on (host_id)
        host_id,
        cpu_threads
    from hosts

)

select
    pairs.factor,
    pairs.origin,
    treatment.product,
    treatment.protocol,
    treatment.backend,
    treatment.ha_mode,
    treatment.threading,
    treatment.threads,
    treatment.scenario,
    treatment.product_version,
    treatment.testbed,
    treatment.tool,
    treatment.method,
    pairs.judged_ratio as ratio,
    pairs.qualifier as ratio_qualifier,
    pairs.ci_low,
    pairs.ci_high,
    pairs.verdict,
    pairs.treatment_runs as runs,
    pairs.baseline_runs as reference_runs,
    pairs.campaign,
    pairs.treatment_configuration_id as configuration_id,
    machines.cpu_threads as cpus,
    campaigns.description
from pairs
inner join configurations as treatment on pairs.treatment_configuration_id = treatment.configuration_id
left join machines on coalesce(treatment.host_id, treatment.testbed) = machines.host_id
left join campaigns on pairs.campaign = campaigns.campaign
where pairs.known_ratio is not null
order by
    pairs.verdict = 'not testable',
    pairs.known_ratio desc,
    configuration_id asc,
    pairs.baseline_configuration_id asc
