-- Do all trials together say the same as the runs one by one?
-- MLRsearch (draft-ietf-bmwg-mlrsearch) judges the trials of all runs at one load together: the load is an upper bound
-- if more than half of them lose too much, or the share that the campaign allows. The further its result is from the
-- capacity, the less the runs agree on the step where the loss begins. Where each run tries loads of its own, as in a
-- search, the bounds are those of the slowest run.
with

trials as (

    select * from {{ ref('trials') }}
    where completed and offered_rate is not null and duplicate_of is null

),

campaigns as (

    select * from {{ ref('campaigns') }}
    where origin = 'measured'

),

loss_goals as (

    select * from {{ ref('loss_goals') }}
    where loss_limit is not null

),

capacity as (

    select * from {{ ref('capacity') }}

),

judged_trials as (

    select
        trials.configuration_id,
        loss_goals.loss_goal,
        campaigns.exceed_ratio,
        trials.offered_rate,
        trials.achieved_rate,
        case loss_goals.loss_basis
            when 'worst_exchange' then trials.loss_worst_exchange
            when 'packet' then trials.loss_packet
            when 'lease' then trials.loss_lease
        end as loss_ratio,
        loss_goals.loss_limit,
        trials.is_unsustained or coalesce(trials.error_ratio > loss_goals.error_limit, false) as is_failing
    from trials
    left join campaigns on trials.campaign = campaigns.campaign
    cross join loss_goals

),

loads as (

    select
        configuration_id,
        loss_goal,
        offered_rate,
        count(*) as trials,
        median(achieved_rate) as achieved_rate,
        count(*) filter (where loss_ratio > loss_limit or is_failing)
        > coalesce(any_value(exceed_ratio), 0.5) * count(*) as is_upper_bound
    from judged_trials
    where loss_ratio is not null
    group by configuration_id, loss_goal, offered_rate

),

with_relevant_upper_bound as (

    select
        *,
        min(offered_rate) filter (where is_upper_bound)
            over (partition by configuration_id, loss_goal) as relevant_upper_bound
    from loads

),

marked_loads as (

    select
        *,
        relevant_upper_bound is null or offered_rate < relevant_upper_bound as is_below
    from with_relevant_upper_bound

),

bounds as (

    select
        configuration_id,
        loss_goal,
        any_value(relevant_upper_bound) as relevant_upper_bound,
        any_value(trials) filter (where offered_rate = relevant_upper_bound) as upper_bound_trials,
        max(offered_rate) filter (where is_below) as relevant_lower_bound,
        max_by(trials, offered_rate) filter (where is_below) as lower_bound_trials,
        max_by(achieved_rate, offered_rate) filter (where is_below and achieved_rate is not null)
            as conditional_throughput
    from marked_loads
    group by configuration_id, loss_goal

),

side_by_side as (

    select
        capacity.configuration,
        capacity.campaign,
        capacity.loss_goal,
        capacity.rate,
        capacity.rate_unit,
        capacity.status,
        bounds.relevant_lower_bound,
        bounds.lower_bound_trials,
        bounds.relevant_upper_bound,
        bounds.upper_bound_trials,
        bounds.conditional_throughput,
        capacity.rate / nullif(bounds.conditional_throughput, 0) - 1 as difference_ratio
    from bounds
    inner join capacity
        on bounds.configuration_id = capacity.configuration_id
            and bounds.loss_goal = capacity.loss_goal

)

select * from side_by_side
order by abs(difference_ratio) desc nulls last, configuration asc, campaign asc, loss_goal asc
