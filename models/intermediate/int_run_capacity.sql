with

steps as (

    select * from {{ ref('int_steps') }}

),

loss_goals as (

    select * from {{ ref('loss_goals') }}
    where loss_limit is not null

),

judged_steps as (

    select
        steps.run_id,
        loss_goals.loss_goal,
        loss_goals.loss_limit,
        loss_goals.loss_basis,
        steps.offered_rate,
        steps.achieved_rate,
        steps.is_generator_limited,
        coalesce(steps.is_pace_lost, false) as is_pace_lost,
        coalesce(steps.is_unsustained, false) as is_unsustained,
        {{ loss_on('loss_goals.loss_basis') }} as loss_ratio
    from steps
    cross join loss_goals

),

with_first_exceeding as (

    select
        *,
        min(offered_rate) filter (where loss_ratio > loss_limit or is_unsustained)
            over (partition by run_id, loss_goal) as first_exceeding_rate
    from judged_steps
    where loss_ratio is not null

),

bracketed as (

    select
        run_id,
        loss_goal,
        any_value(loss_limit) as loss_limit,
        any_value(loss_basis) as loss_basis,
        any_value(first_exceeding_rate) as first_exceeding_rate,
        count(*) as steps,
        max(offered_rate) filter (where passes) as last_passing_rate,
        arg_max(achieved_rate, offered_rate) filter (where passes) as rate,
        arg_max(loss_ratio, offered_rate) filter (where passes) as last_passing_loss,
        arg_max(is_generator_limited, offered_rate) filter (where passes) as is_last_passing_limited,
        any_value(achieved_rate) filter (where offered_rate = first_exceeding_rate) as first_exceeding_achieved,
        any_value(loss_ratio) filter (where offered_rate = first_exceeding_rate) as first_exceeding_loss,
        coalesce(any_value(is_pace_lost) filter (where offered_rate = first_exceeding_rate), false)
            as is_first_exceeding_pace_lost,
        coalesce(
            bool_or(offered_rate > first_exceeding_rate and loss_ratio <= loss_limit and not is_unsustained), false
        ) as dips_back
    from (
        select
            *,
            first_exceeding_rate is null or offered_rate < first_exceeding_rate as passes
        from with_first_exceeding
    ) as marked_steps
    group by run_id, loss_goal

),

with_status as (

    select
        *,
        case
            when first_exceeding_loss > loss_limit
                then
                    rate + (first_exceeding_achieved - rate)
                    * (loss_limit - last_passing_loss) / (first_exceeding_loss - last_passing_loss)
        end as rate_interpolated,
        case
            when last_passing_rate is null then 'exceeded_at_first_step'
            when is_last_passing_limited then 'generator_limited'
            -- nothing was lost, the generator fell behind: a closed loop that waits for the server
            when is_first_exceeding_pace_lost and first_exceeding_loss <= loss_limit then 'generator_limited'
            when first_exceeding_rate is null then 'never_exceeded'
            else 'bracketed'
        end as status
    from bracketed

)

select * from with_status
