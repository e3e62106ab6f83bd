select
    campaign,
    configuration_id_multi as configuration_id,
    'isc' as loss_goal,
    speedup as ratio,
    lps_multi as numerator,
    lps_single as denominator,
    ratio_interpolated,
    ci_low,
    ci_high
from multithreading_speedup
