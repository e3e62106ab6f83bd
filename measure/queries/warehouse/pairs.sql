-- each configuration of the candidate compared with the same one of the baseline
with

measured as (

    select
        *,
        row(
            product, protocol, backend, threading, threads, packet_queue_size, ha_mode, scenario, testbed, tool, method,
            rate_unit
        ) as set_up
    from capacity
    where origin = 'measured' and loss_goal = $goal

),

pairs as (

    select
        candidate.configuration_id as a,
        baseline.configuration_id as b
    from measured as candidate
    inner join measured as baseline on candidate.set_up is not distinct from baseline.set_up
    where
        $candidate in (candidate.campaign, candidate.product_version)
        and $baseline in (baseline.campaign, baseline.product_version)
        and candidate.configuration_id <> baseline.configuration_id

)

select
    compared.configuration_a as configuration,
    compared.runs_a as runs,
    compared.runs_b as baseline_runs,
    compared.ratio_interpolated as ratio,
    compared.ci_low as low,
    compared.ci_high as high,
    compared.p_value
from pairs
cross join lateral compare(pairs.a, pairs.b) as compared
where compared.loss_goal = $goal
order by all
