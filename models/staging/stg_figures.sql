with

figures as (

    select * from {{ source('lake', 'figures') }}

),

files as (

    select * from {{ ref('stg_raw_files') }}

),

current_versions as (

    select
        figures.campaign || '/' || figures.source_path || '#' || figures.figure_id as figure_id,
        figures.batch,
        figures.campaign,
        figures.source_path,
        figures.source_sha256,
        figures.line,
        figures.campaign || '/' || figures.source_id as source_id,
        figures.source_title,
        figures.source_publisher,
        figures.source_date,
        figures.source_url,
        figures.location,
        figures.test_date,
        coalesce(
            figures.domain,
            case
                when figures.protocol like 'DHCP%' then 'dhcp'
                when figures.protocol like 'DNS%' then 'dns'
            end
        ) as domain,
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
        coalesce(figures.qualifier, 'exact') as qualifier,
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
        coalesce(figures.quality_flag, 'ok') as quality_flag,
        figures.note
    from figures
    inner join files
        on figures.campaign = files.campaign
            and figures.source_path = files.source_path
            and figures.batch = files.batch

)

select * from current_versions
