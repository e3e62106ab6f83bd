select
    campaign,
    treatment_configuration_id as configuration_id,
    loss_goal,
    factor,
    ratio,
    treatment_rate,
    baseline_rate,
    ratio_interpolated,
    ci_low,
    ci_high
from ratios
