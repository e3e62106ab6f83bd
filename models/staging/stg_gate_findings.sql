with

findings as (

    select * from {{ source('quality', 'lake') }}

),

files as (

    select * from {{ ref('stg_raw_files') }}

),

current_versions as (

    select
        findings.finding,
        findings.severity,
        findings.campaign,
        findings.source_path,
        findings.trial_id,
        findings.detail,
        findings.batch
    from findings
    inner join files
        on findings.campaign = files.campaign
            and findings.source_path = files.source_path
            and findings.batch = files.batch

)

select * from current_versions
