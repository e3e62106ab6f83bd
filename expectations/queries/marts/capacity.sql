with
tried as (
    select
        configuration_id,
        max(offered_rate) as highest_offered_rate,
        max(achieved_rate) as highest_achieved_rate
    from run_steps
    group by configuration_id
)

select
    capacity.campaign,
    capacity.configuration_id,
    capacity.configuration,
    capacity.loss_goal,
    capacity.loss_basis,
    capacity.origin,
    capacity.rate,
    capacity.rate_unit,
    tried.highest_offered_rate,
    tried.highest_achieved_rate,
    capacity.runs,
    capacity.runs_kept,
    capacity.ci_low,
    capacity.rate_interpolated,
    capacity.ci_high
from capacity
-- a throughput is of trials, not of steps
left join tried on capacity.configuration_id = tried.configuration_id and capacity.loss_goal <> 'throughput'
