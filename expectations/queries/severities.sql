-- The findings of a new warehouse by severity, without those about published figures.
with

published as (

    select configuration_id
    from configurations
    where origin = 'published'

)

select
    quality_findings.severity,
    count(*) as findings
from quality_findings
anti join published on quality_findings.configuration_id = published.configuration_id
where quality_findings.subject <> 'figure'
group by quality_findings.severity
order by quality_findings.severity
