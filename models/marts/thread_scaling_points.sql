with

points as (

    select * from {{ ref('int_thread_points') }}

),

scaling as (

    select * from {{ ref('int_thread_scaling') }}

),

with_fewest as (

    select
        *,
        min(threads) over (partition by family_id) as fewest_threads,
        first_value(rate) over (partition by family_id order by threads) as rate_at_fewest
    from points

)

select
    with_fewest.family_id,
    with_fewest.family,
    with_fewest.campaign,
    with_fewest.loss_goal,
    with_fewest.configuration_id,
    with_fewest.configuration,
    with_fewest.threads,
    with_fewest.rate,
    with_fewest.rate_unit,
    cast(cardinality(with_fewest.rates) as bigint) as rated_runs,
    with_fewest.is_used,
    -- Gunther's law, with the parameters of inference.scaling
    scaling.rate_one_thread * with_fewest.threads / (
        1 + scaling.sigma * (with_fewest.threads - 1)
        + scaling.kappa * with_fewest.threads * (with_fewest.threads - 1)
    ) as fitted_rate,
    with_fewest.rate * with_fewest.fewest_threads / (with_fewest.rate_at_fewest * with_fewest.threads)
        as efficiency_ratio,
    with_fewest.fewest_threads,
    with_fewest.threads > with_fewest.cpu_cores as is_above_cores
from with_fewest
inner join scaling on with_fewest.family_id = scaling.family_id
