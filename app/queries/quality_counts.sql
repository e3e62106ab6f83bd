-- The number of findings by kind, the gravest and most frequent first, and whether they are about the visitor's own.
with

published as (

    select campaign
    from campaigns
    where origin = 'published'

)

select
    severity,
    finding,
    subject,
    campaign,
    coalesce(campaign not in (select published.campaign from published), true) as is_own,
    count(*) as findings
from quality_findings
group by severity, finding, subject, campaign
order by severity <> 'suspect', severity <> 'warning', findings desc, finding asc, subject asc, campaign asc
