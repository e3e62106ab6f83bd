with

capacity as (

    select * from {{ ref('capacity').include(database=false) }}

)

select
    configuration_id,
    configuration,
    campaign,
    origin,
    figure_id,
    product,
    product_version,
    protocol,
    backend,
    backend_version,
    threading,
    threads,
    packet_queue_size,
    ha_mode,
    scenario,
    testbed,
    tool,
    tool_version,
    method,
    loss_limit,
    loss_basis,
    drop_time_s,
    runs,
    runs_kept,
    rate as lps,
    rate_at_most as lps_at_most,
    rate_median as lps_median,
    rate_mean as lps_mean,
    rate_stdev as lps_stdev,
    interval_kind,
    ci_low,
    ci_high,
    rate_interpolated as lps_interpolated,
    stdev_interpolated as lps_interpolated_stdev,
    outlier_runs,
    runs_without_outliers,
    run_correlation,
    resolution,
    detectable_ratio,
    runs_for_1_percent,
    runs_for_2_percent,
    runs_for_5_percent,
    status,
    quality,
    findings,
    first_started_at,
    last_started_at,
    is_newest
from capacity
where rate_unit = 'leases/s' and loss_goal = 'isc'
