select
    configuration_id,
    count(rate) > 0 as has_figure
from runs
group by configuration_id
