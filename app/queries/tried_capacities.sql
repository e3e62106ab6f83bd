select
    configuration,
    rate,
    status
from capacity
where origin = 'measured' and loss_goal = $loss_goal and rate is not null
    and tool = $tool
    and protocol is not distinct from $protocol
    and rate_unit is not distinct from $rate_unit
order by rate desc, configuration_id asc
