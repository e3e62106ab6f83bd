-- The configurations with runs: those with a figure first, then the newest. `labels` is given.
select runs.configuration_id
from runs
inner join configurations on runs.configuration_id = configurations.configuration_id
inner join labels on runs.configuration_id = labels.configuration_id
group by runs.configuration_id, configurations.is_newest, labels.label
order by
    count(runs.rate) > 0 desc,
    configurations.is_newest desc,
    labels.label asc
