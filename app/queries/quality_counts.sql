-- The number of findings by kind, the gravest and most frequent first.
select
    severity,
    finding,
    subject,
    campaign,
    count(*) as findings
from quality_findings
group by severity, finding, subject, campaign
order by severity <> 'suspect', severity <> 'warning', findings desc, finding asc, subject asc, campaign asc
