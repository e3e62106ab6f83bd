-- The rejects by reason and campaign, the reason with most files first.
select
    md5(concat_ws('|', campaign, detail)) as reject_id,
    detail,
    campaign,
    count(*) as files,
    list(source_path order by source_path) as source_paths
from quality_findings
where finding = 'rejected'
group by detail, campaign
order by files desc, detail asc, campaign asc
