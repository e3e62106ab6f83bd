-- the runs of the baseline with their brackets, as models/splits.sql needs them
with

baselines as (

    select
        configuration_id,
        loss_goal
    from capacity
    where loss_goal = coalesce($goal, usual_goal) and $baseline in (campaign, product_version)

),

rates as (

    select * exclude (campaign, configuration_id)
    from run_capacity
    where (configuration_id, loss_goal) in (select (baselines.configuration_id, baselines.loss_goal) from baselines)

)

select
    rates.*,
    runs.configuration_id,
    runs.started_at
from rates
inner join runs on rates.run_id = runs.run_id
