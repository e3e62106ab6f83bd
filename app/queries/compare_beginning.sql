-- The pair that tells most: what was measured with its newest version and the one before, else the widest difference
-- between two measured configurations that differ in one thing and are otherwise compared fairly, else the two fastest.
with

usual as (

    select *
    from capacity
    where loss_goal = usual_goal
        and coalesce(rate, rate_at_most) > 0

),

versions as (

    select
        series_id,
        product_version,
        arg_max(configuration_id, place) as configuration_id,
        max(place) as place,
        max(started_at) as started_at
    from trends
    where loss_goal = usual_goal
    group by series_id, product_version

),

version_pairs as (

    select
        configuration_id as treatment_id,
        lag(configuration_id) over in_time as baseline_id,
        'product_version' as factor,
        date_trunc('day', started_at) as started_on,
        null as is_decided
    from versions
    window in_time as (partition by series_id order by place)
    qualify row_number() over (partition by series_id order by place desc) = 1

),

fair_pairs as (

    select
        treatment_configuration_id as treatment_id,
        baseline_configuration_id as baseline_id,
        factor,
        null as started_on,
        verdict in ('faster', 'slower') as is_decided
    from ratios
    where fairness in ('same', 'minor') and factor <> 'protocol' and loss_goal = usual_goal

),

fastest as (

    select
        configuration_id as baseline_id,
        lag(configuration_id) over in_order as treatment_id
    from usual
    where origin = 'measured'
    window in_order as (partition by campaign, protocol, rate_unit, method order by rate desc, configuration_id asc)
    qualify row_number() over in_order = 2

),

pairs as (

    select * from version_pairs
    where baseline_id is not null
    union all
    select * from fair_pairs
    union all
    select
        treatment_id,
        baseline_id,
        'set_up' as factor,
        null as started_on,
        null as is_decided
    from fastest

)

select
    pairs.baseline_id,
    pairs.treatment_id,
    pairs.factor
from pairs
inner join usual as baseline on pairs.baseline_id = baseline.configuration_id
inner join usual as treatment on pairs.treatment_id = treatment.configuration_id
where baseline.origin = 'measured' and treatment.origin = 'measured'
order by
    pairs.factor = 'product_version' desc,
    pairs.factor = 'set_up' asc,
    pairs.started_on desc nulls last,
    baseline.is_newest and treatment.is_newest desc,
    pairs.is_decided desc nulls last,
    least(baseline.runs, treatment.runs) >= 2 desc,
    -- of one without a figure the bound
    round(abs(ln(
        coalesce(treatment.rate_interpolated, treatment.rate_at_most)
        / coalesce(baseline.rate_interpolated, baseline.rate_at_most)
    )), 9) desc nulls last,
    treatment.rate desc,
    pairs.treatment_id asc,
    pairs.baseline_id asc
limit 1
