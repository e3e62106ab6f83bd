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
    where origin = 'measured' and loss_goal = coalesce($goal, usual_goal(rate_unit))

),

pairs as (

    select
        candidate.configuration_id as a,
        baseline.configuration_id as b,
        candidate.loss_goal,
        candidate.outlier_runs as outliers,
        baseline.outlier_runs as baseline_outliers,
        -- where the crossings may be, however many runs there are
        ln(candidate.crossing_high / nullif(candidate.crossing_low, 0))
        + ln(baseline.crossing_high / nullif(baseline.crossing_low, 0)) as width_by_steps
    from measured as candidate
    inner join measured as baseline on candidate.set_up is not distinct from baseline.set_up
    where
        $candidate in (candidate.campaign, candidate.product_version)
        and $baseline in (baseline.campaign, baseline.product_version)
        and candidate.configuration_id <> baseline.configuration_id

),

compared as (

    select
        compare.configuration_a as configuration,
        compare.runs_a as runs,
        compare.runs_b as baseline_runs,
        compare.ratio_interpolated as ratio,
        compare.ci_low as low,
        compare.ci_high as high,
        compare.p_value,
        pairs.width_by_steps,
        pairs.outliers,
        pairs.baseline_outliers,
        count(compare.p_value) over () as tests,
        row_number() over (order by compare.p_value nulls last) as place
    from pairs
    cross join lateral compare(pairs.a, pairs.b) as compare
    where compare.loss_goal = pairs.loss_goal

)

-- p values are corrected for their number (S. Holm, Scandinavian Journal of Statistics 6, 1979, pp. 65-70)
select
    configuration,
    runs,
    baseline_runs,
    ratio,
    low,
    high,
    width_by_steps,
    outliers,
    baseline_outliers,
    case
        when p_value is not null then max(least(1, (tests - place + 1) * p_value)) over (order by place)
    end as p_value
from compared
order by all
