-- The findings that match every filter, gravest first, without some campaigns; an empty filter matches all.
select * from quality_findings
where (len($severities) = 0 or list_contains($severities, severity))
    and (len($findings) = 0 or list_contains($findings, finding))
    and (len($subjects) = 0 or list_contains($subjects, subject))
    and (len($campaigns) = 0 or list_contains($campaigns, campaign))
    and not coalesce(list_contains($hidden, campaign), false)
order by
    severity <> 'suspect', severity <> 'warning', finding, campaign, source_path nulls last, subject_id, detail
limit $most
