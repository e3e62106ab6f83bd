with

figures as (

    select * from {{ ref('stg_published_figures') }}

)

select
    figure_id,
    source_id,
    source_title,
    publisher,
    source_url,
    location,
    test_date,
    domain,
    product,
    product_version,
    protocol,
    ip_version,
    transport,
    osi_layer,
    backend,
    backend_version,
    ha_mode,
    threading,
    threads,
    packet_queue_size,
    scenario,
    scenario_detail,
    metric,
    value,
    unit,
    rate_unit,
    qualifier,
    repetitions,
    discard_lowest,
    discard_highest,
    loss_limit_ratio,
    loss_basis,
    drop_time_s,
    offered_rate,
    offered_rate_unit,
    duration_s,
    tool,
    tool_version,
    testbed,
    evidence_kind,
    quality_flag,
    note
from figures
