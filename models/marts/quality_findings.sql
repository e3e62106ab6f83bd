with

findings as (

    select * from {{ ref('int_findings') }}

),

configurations as (

    select * from {{ ref('int_configurations') }}

)

select
    {{ surrogate_key('finding, subject, subject_id, findings.campaign, detail') }} as finding_id,
    findings.finding,
    findings.severity,
    findings.subject,
    findings.subject_id,
    findings.campaign,
    findings.configuration_id,
    configurations.configuration,
    findings.run_id,
    findings.trial_id,
    findings.source_path,
    findings.detail
from findings
left join configurations on findings.configuration_id = configurations.configuration_id
group by all
