select
    campaign,
    configuration_id_backend as configuration_id,
    loss_goal,
    ratio,
    rate as numerator,
    reference_rate as denominator,
    ratio_interpolated,
    ci_low,
    ci_high
from backend_ratio
