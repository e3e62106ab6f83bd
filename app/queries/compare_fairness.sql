select distinct
    factor,
    grade,
    differences,
    unstated_aspects
from comparison_fairness
where (baseline_configuration_id = $one and treatment_configuration_id = $other)
    or (baseline_configuration_id = $other and treatment_configuration_id = $one)
order by factor
