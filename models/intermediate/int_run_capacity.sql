with

steps as (

    select * from {{ ref('int_steps') }}

),

loss_goals as (

    select * from {{ ref('loss_goals') }}
    where loss_limit is not null

),

throughputs as (

    select
        run_id,
        median(throughput) as throughput,
        -- less than one answer in the period
        coalesce(1 / nullif(max(test_period_s), 0), 1) as least_rate,
        bool_or(is_unlimited) as is_unlimited
    from {{ ref('int_throughputs') }}
    group by run_id

),

bounded_throughputs as (

    select
        *,
        case when throughput = 0 then least_rate when not is_unlimited then throughput end as upper_end
    from throughputs

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
        {{ faults_at('loss_goals.error_limit', 'steps.') }},
        steps.loss_lease,
        {{ loss_on('loss_goals.loss_basis') }} as loss_ratio
    from steps
    cross join loss_goals

),

{{ run_brackets() }},

all_capacities as (

    select * from run_capacities
    union all
    select
        run_id,
        'throughput' as loss_goal,
        null as loss_limit,
        null as loss_basis,
        null as first_exceeding_rate,
        null as steps,
        null as last_passing_rate,
        nullif(throughput, 0) as rate,
        null as last_passing_loss,
        null as is_last_passing_limited,
        null as first_exceeding_loss,
        null as is_first_exceeding_pace_lost,
        false as dips_back,
        null as loss_before_dip,
        false as is_disturbed,
        case
            when throughput = 0 then 'exceeded_at_first_step'
            when is_unlimited then 'never_exceeded'
            else 'saturated'
        end as status,
        throughput as bracket_low,
        upper_end as bracket_high,
        throughput as crossing_low,
        upper_end as crossing_high,
        case when throughput > 0 then upper_end end as rate_interpolated
    from bounded_throughputs

)

select * from all_capacities
