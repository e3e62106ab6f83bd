-- The findings that weaken figures of the newest batch's campaigns.
with

newest as (

    select * from campaigns
    where origin = 'measured'
    qualify last_batch = max(last_batch) over ()

)

select
    quality_findings.severity,
    quality_findings.finding,
    count(*) as findings,
    list(distinct quality_findings.campaign order by quality_findings.campaign) as campaigns
from quality_findings
inner join newest on quality_findings.campaign = newest.campaign
where quality_findings.severity <> 'info'
group by quality_findings.severity, quality_findings.finding
order by quality_findings.severity <> 'suspect', findings desc, quality_findings.finding asc
