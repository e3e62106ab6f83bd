-- The pairs of one factor: who is compared with whom, and what comes of it. The ratio is that to which interval and
-- verdict belong: of the rates at the limit where both were estimated, else of the figures.
with

pairs as (

    select
        *,
        ratio_interpolated is not null as is_at_limit,
        coalesce(ratio_interpolated, ratio) as judged_ratio
    from ratios
    where factor = if($factor = 'ip_version', 'protocol', $factor)

)

select
    pairs.origin,
    pairs.campaign,
    treatment.product,
    treatment.product_version,
    treatment.protocol,
    treatment.backend,
    treatment.ha_mode,
    treatment.testbed,
    treatment.threading,
    treatment.threads,
    treatment.scenario,
    treatment.tool,
    treatment.method,
    case pairs.factor
        when 'threading' then '1 thread'
        when 'ha_mode' then 'no HA'
        when 'backend' then baseline.backend
        else 'DHCPv4'
    end as reference,
    if(pairs.is_at_limit, treatment.rate_interpolated, pairs.treatment_rate) as rate,
    if(pairs.is_at_limit, baseline.rate_interpolated, pairs.baseline_rate) as reference_rate,
    treatment.status,
    treatment.qualifier,
    baseline.status as reference_status,
    baseline.qualifier as reference_qualifier,
    pairs.judged_ratio as ratio,
    pairs.qualifier as ratio_qualifier,
    pairs.treatment_runs as runs,
    pairs.baseline_runs as reference_runs,
    pairs.rate_unit,
    pairs.ci_low,
    pairs.ci_high,
    pairs.p_value_holm,
    pairs.verdict,
    pairs.quality,
    treatment.is_newest,
    pairs.treatment_configuration_id as configuration_id,
    pairs.baseline_configuration_id as reference_id,
    pairs.fairness,
    pairs.fairness = 'unknown' and pairs.campaign <> pairs.baseline_campaign as may_differ_in_machine,
    pairs.worst_differences,
    pairs.is_in_turn,
    pairs.series_variation,
    if(pairs.origin = 'measured', campaigns.description, null) as campaign_description
from pairs
inner join capacity as treatment
    on pairs.treatment_configuration_id = treatment.configuration_id
        and pairs.loss_goal = treatment.loss_goal
inner join capacity as baseline
    on pairs.baseline_configuration_id = baseline.configuration_id
        and pairs.loss_goal = baseline.loss_goal
left join campaigns on pairs.campaign = campaigns.campaign
where
    pairs.loss_goal in ('unstated', pairs.usual_goal)
    and (
        pairs.factor <> 'backend'
        or coalesce(
            pairs.judged_ratio >= 1,
            pairs.ci_low is not null or (pairs.ci_high is null and treatment.backend > baseline.backend)
        )
    )
order by
    pairs.origin asc,
    pairs.verdict = 'not testable',
    coalesce(pairs.judged_ratio, pairs.ci_high, pairs.ci_low) desc nulls last,
    configuration_id asc,
    reference_id asc
