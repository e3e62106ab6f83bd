-- The factors with partners that differ from a configuration in nothing else.
select
    if(factor = 'protocol', 'ip_version', factor) as factor,
    count(*) as pairs
from ratios
where
    case factor
        when 'backend'
            then loss_goal in ('unstated', usual_goal(rate_unit))
        when 'protocol' then loss_goal = 'isc'
        else loss_goal = 'isc' and rate_unit = 'leases/s'
    end
    and $configuration_id in (treatment_configuration_id, baseline_configuration_id)
group by all
order by pairs desc, factor asc
