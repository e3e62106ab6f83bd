-- the columns of int_run_capacity for `trials`, with the configuration's name
with

judged_steps as (

    select
        run_id,
        loss_goal,
        loss_limit,
        loss_basis,
        offered_rate,
        median(achieved_rate) as achieved_rate,
        {{ of_step('loss_ratio') }} as loss_ratio,
        {{ of_step('loss_lease') }} as loss_lease,
        2 * count(*) filter (where is_generator_limited) >= count(*) as is_generator_limited,
        {{ is_of_step('is_pace_lost') }} as is_pace_lost,
        {{ is_of_step('is_unsustained') }} as is_unsustained
    from trials
    group by run_id, loss_goal, loss_limit, loss_basis, offered_rate

),

{{ run_brackets() }},

configurations as (

    select distinct
        run_id,
        configuration
    from trials

)

select
    run_capacities.*,
    configurations.configuration
from run_capacities
inner join configurations on run_capacities.run_id = configurations.run_id
