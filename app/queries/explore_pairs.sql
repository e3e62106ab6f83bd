-- The factors with partners that differ from a configuration in nothing else.
select
    if(factor = 'protocol', 'ip_version', factor) as factor,
    count(*) as pairs
from ratios
where
    loss_goal in ('unstated', usual_goal)
    and $configuration_id in (treatment_configuration_id, baseline_configuration_id)
group by all
order by pairs desc, factor asc
