select
    campaign,
    configuration_id_with_ha as configuration_id,
    'isc' as loss_goal,
    ratio,
    lps_with_ha as numerator,
    lps_without_ha as denominator,
    ratio_interpolated,
    ci_low,
    ci_high
from ha_speedup
