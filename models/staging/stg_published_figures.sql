{%- set columns -%}
    figure_id, source_id, location, test_date, domain, product, product_version, protocol, ip_version,
    transport, osi_layer, backend, backend_version, ha_mode, threading, threads, packet_queue_size, scenario,
    scenario_detail, metric, value, unit, qualifier, repetitions, discard_lowest, discard_highest,
    loss_limit_ratio, loss_basis, drop_time_s, offered_rate, offered_rate_unit, duration_s, tool, tool_version,
    testbed, evidence_kind, quality_flag, note
{%- endset -%}
with

reported as (

    select * from {{ ref('reported_figures') }}

),

ingested as (

    select * from {{ ref('stg_figures') }}

),

sources as (

    select * from {{ ref('stg_published_sources') }}

),

metrics as (

    select * from {{ ref('capacity_metrics') }}

),

figures as (

    select {{ columns }} from reported
    union all
    select {{ columns }} from ingested

),

described as (

    select
        figures.figure_id,
        sources.source_id,
        sources.title as source_title,
        sources.publisher,
        sources.url as source_url,
        figures.location,
        figures.test_date,
        figures.domain,
        figures.product,
        figures.product_version,
        figures.protocol,
        figures.ip_version,
        figures.transport,
        figures.osi_layer,
        figures.backend,
        figures.backend_version,
        figures.ha_mode,
        figures.threading,
        figures.threads,
        figures.packet_queue_size,
        figures.scenario,
        figures.scenario_detail,
        figures.metric,
        figures.value,
        figures.unit,
        metrics.rate_unit,
        figures.qualifier,
        figures.repetitions,
        figures.discard_lowest,
        figures.discard_highest,
        figures.loss_limit_ratio,
        figures.loss_basis,
        figures.drop_time_s,
        figures.offered_rate,
        figures.offered_rate_unit,
        figures.duration_s,
        figures.tool,
        figures.tool_version,
        figures.testbed,
        figures.evidence_kind,
        figures.quality_flag,
        figures.note
    from figures
    inner join sources on figures.source_id = sources.stated_id
    left join metrics on figures.metric = metrics.metric

)

select * from described
