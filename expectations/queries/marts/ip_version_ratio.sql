select
    campaign,
    configuration_id_v6 as configuration_id,
    loss_goal,
    ratio,
    rate_v6 as numerator,
    rate_v4 as denominator,
    ratio_interpolated,
    ci_low,
    ci_high
from ip_version_ratio
