with

findings as (

    select * from {{ ref('int_findings') }}

)

select
    {{ surrogate_key('finding, subject, subject_id, campaign, detail') }} as finding_id,
    finding,
    severity,
    subject,
    subject_id,
    campaign,
    configuration_id,
    run_id,
    trial_id,
    source_path,
    detail
from findings
group by all
