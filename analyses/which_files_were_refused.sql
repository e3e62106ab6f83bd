-- Which files were rejected, at which line, why, and what can you do about it? (`dropline rejects` says the same.)
with

campaigns as (

    select * from {{ ref('campaigns') }}

),

findings as (

    select * from {{ ref('quality_findings') }}
    where finding = 'rejected'

),

refused as (

    select
        findings.campaign,
        findings.source_path,
        findings.detail,
        campaigns.rejected_files,
        campaigns.files
    from findings
    inner join campaigns on findings.campaign = campaigns.campaign

)

select * from refused
order by campaign, source_path
