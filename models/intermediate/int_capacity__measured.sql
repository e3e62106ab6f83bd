with

runs as (

    select * from {{ ref('int_runs__identified') }}

),

run_capacity as (

    select * from {{ ref('int_run_capacity') }}

),

campaigns as (

    select * from {{ ref('stg_campaigns') }}

),

student_t as (

    select * from {{ ref('student_t') }}

),

ranked_runs as (

    select
        runs.configuration_id,
        runs.campaign,
        run_capacity.loss_goal,
        run_capacity.loss_limit,
        run_capacity.loss_basis,
        run_capacity.rate,
        run_capacity.rate_interpolated,
        run_capacity.status,
        campaigns.discard_lowest,
        campaigns.discard_highest,
        campaigns.discard_from_runs,
        count(*) over capacity_of_configuration as all_runs,
        -- a run that exceeds at its first step has no rate and lies below all others
        row_number() over (
            partition by runs.configuration_id, run_capacity.loss_goal
            order by run_capacity.rate nulls first, runs.run_id
        ) as place
    from runs
    inner join run_capacity on runs.run_id = run_capacity.run_id
    left join campaigns on runs.campaign = campaigns.campaign
    window capacity_of_configuration as (partition by runs.configuration_id, run_capacity.loss_goal)

),

trimmed_runs as (

    select
        *,
        all_runs < coalesce(discard_from_runs, 5)
        or (place > coalesce(discard_lowest, 1) and place <= all_runs - coalesce(discard_highest, 1)) as is_kept
    from ranked_runs

),

summarised as (

    select
        configuration_id,
        campaign,
        loss_goal,
        any_value(loss_limit) as loss_limit,
        any_value(loss_basis) as loss_basis,
        count(*) as runs,
        count(rate) filter (where is_kept) as runs_kept,
        avg(rate) filter (where is_kept) as rate,
        median(rate) as rate_median,
        avg(rate) as rate_mean,
        stddev_samp(rate) as rate_stdev,
        count(rate) as rated_runs,
        avg(rate_interpolated) filter (where is_kept) as rate_interpolated,
        {{ worst_status('status', 'is_kept') }} as status
    from trimmed_runs
    group by configuration_id, campaign, loss_goal

),

with_interval as (

    select
        summarised.*,
        student_t.t_975 * summarised.rate_stdev / sqrt(summarised.rated_runs) as half_width
    from summarised
    left join student_t
        on student_t.degrees_of_freedom = {{ tabulated_degrees_of_freedom("(summarised.rated_runs - 1)") }}

),

with_bounds as (

    select
        *,
        -- a rate cannot be negative
        case when half_width is not null then greatest(0, rate_mean - half_width) end as ci_low,
        rate_mean + half_width as ci_high
    from with_interval

)

select * from with_bounds
