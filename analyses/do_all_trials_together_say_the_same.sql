-- Do all trials together say the same as the runs one by one?
-- MLRsearch judges the trials of all runs at one load together. The further its result is from the capacity, the
-- less the runs agree on the step where the loss begins.
with

bounds as (

    select * from {{ ref('relevant_bounds') }}

),

capacity as (

    select * from {{ ref('capacity') }}

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
        bounds.relevant_upper_bound,
        bounds.conditional_throughput,
        capacity.rate / nullif(bounds.conditional_throughput, 0) - 1 as difference_ratio
    from bounds
    inner join capacity
        on bounds.configuration_id = capacity.configuration_id
            and bounds.loss_goal = capacity.loss_goal

)

select * from side_by_side
order by abs(difference_ratio) desc nulls last, configuration asc, campaign asc, loss_goal asc
