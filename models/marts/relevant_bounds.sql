with

trials as (

    select * from {{ ref('int_trials__measured') }}
    where completed and offered_rate is not null and duplicate_of is null

),

runs as (

    select * from {{ ref('int_runs__identified') }}

),

campaigns as (

    select * from {{ ref('stg_campaigns') }}

),

loss_goals as (

    select * from {{ ref('loss_goals') }}
    where loss_limit is not null

),

judged_trials as (

    select
        runs.configuration_id,
        runs.configuration,
        runs.campaign,
        runs.rate_unit,
        loss_goals.loss_goal,
        loss_goals.loss_limit,
        loss_goals.loss_basis,
        campaigns.exceed_ratio,
        trials.offered_rate,
        trials.computed_rate,
        {{ loss_on('loss_goals.loss_basis') }} > loss_goals.loss_limit
        or trials.is_unsustained
        or coalesce(trials.error_ratio > loss_goals.error_limit, false) as is_exceeding
    from trials
    inner join runs on trials.run_id = runs.run_id
    left join campaigns on runs.campaign = campaigns.campaign
    cross join loss_goals
    where {{ loss_on('loss_goals.loss_basis') }} is not null

),

loads as (

    select
        configuration_id,
        any_value(configuration) as configuration,
        any_value(campaign) as campaign,
        any_value(rate_unit) as rate_unit,
        loss_goal,
        any_value(loss_limit) as loss_limit,
        any_value(loss_basis) as loss_basis,
        offered_rate,
        count(*) as trials,
        median(computed_rate) as achieved_rate,
        count(*) filter (where is_exceeding) > coalesce(any_value(exceed_ratio), 0.5) * count(*) as is_upper_bound
    from judged_trials
    group by configuration_id, loss_goal, offered_rate

),

with_relevant_upper_bound as (

    select
        *,
        min(offered_rate) filter (where is_upper_bound)
            over (partition by configuration_id, loss_goal) as relevant_upper_bound
    from loads

),

bounds as (

    select
        configuration_id,
        any_value(configuration) as configuration,
        any_value(campaign) as campaign,
        any_value(rate_unit) as rate_unit,
        loss_goal,
        any_value(loss_limit) as loss_limit,
        any_value(loss_basis) as loss_basis,
        max(offered_rate) filter (
            where relevant_upper_bound is null or offered_rate < relevant_upper_bound
        ) as relevant_lower_bound,
        any_value(relevant_upper_bound) as relevant_upper_bound,
        max_by(achieved_rate, offered_rate) filter (
            where (relevant_upper_bound is null or offered_rate < relevant_upper_bound) and achieved_rate is not null
        ) as conditional_throughput,
        max_by(trials, offered_rate) filter (
            where relevant_upper_bound is null or offered_rate < relevant_upper_bound
        ) as lower_bound_trials,
        any_value(trials) filter (where offered_rate = relevant_upper_bound) as upper_bound_trials
    from with_relevant_upper_bound
    group by configuration_id, loss_goal

)

select * from bounds
