-- each configuration of the candidate compared with the latest one of the baseline that is of its series
with

series as (

    select
        configuration_id,
        loss_goal,
        any_value(series_id) as series_id,
        max(place) as place
    from trends
    group by configuration_id, loss_goal

),

measured as (

    select
        capacity.*,
        series.place,
        row(series.series_id, capacity.packet_queue_size) as set_up,
        $candidate in (capacity.campaign, capacity.product_version) as is_candidate,
        $baseline in (capacity.campaign, capacity.product_version) as is_baseline
    from capacity
    inner join series on capacity.configuration_id = series.configuration_id and capacity.loss_goal = series.loss_goal
    where capacity.loss_goal = coalesce($goal, capacity.usual_goal)

),

candidates as (

    select * from measured
    where is_candidate and is_baseline is not true
    qualify row_number() over (partition by set_up order by place desc) = 1

),

baselines as (

    select * from measured
    where is_baseline
    qualify row_number() over (partition by set_up order by place desc) = 1

),

pairs as (

    select
        candidates.configuration_id as a,
        baselines.configuration_id as b,
        candidates.loss_goal,
        candidates.outlier_runs as outliers,
        baselines.outlier_runs as baseline_outliers,
        -- where the crossings may be, however many runs there are
        ln(candidates.crossing_high / nullif(candidates.crossing_low, 0))
        + ln(baselines.crossing_high / nullif(baselines.crossing_low, 0)) as width_by_steps
    from candidates
    inner join baselines on candidates.set_up is not distinct from baselines.set_up

),

machines as (

    select
        configuration_id_a,
        replace(array_to_string(differences, ', '), '_', ' ') as differences
    from machine_differences((select list(a order by a) from pairs), (select list(b order by a) from pairs))

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
        compare.series_variation,
        pairs.width_by_steps,
        pairs.outliers,
        pairs.baseline_outliers,
        machines.differences as machines_differ_in,
        count(compare.p_value) over () as tests,
        row_number() over (order by compare.p_value nulls last) as place
    from pairs
    left join machines on pairs.a = machines.configuration_id_a
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
    machines_differ_in,
    series_variation,
    case
        when p_value is not null then max(least(1, (tests - place + 1) * p_value)) over (order by place)
    end as p_value
from compared
order by all
