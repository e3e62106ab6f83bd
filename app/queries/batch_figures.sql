-- The capacities of the configurations of a batch, as text.
select configuration || coalesce(format(' {:,.0f} ', rate) || rate_unit, ' no rate yet') as figure
from capacity
where
    origin = 'measured'
    and loss_goal = usual_goal
    and configuration_id in (
        select trials.configuration_id from trials
        where trials.batch = $batch
    )
order by all
