-- The findings that match every filter, gravest first, without some campaigns; an empty filter matches all.
select * from quality_findings
where (len($severity) = 0 or list_contains($severity, severity))
    and (len($finding) = 0 or list_contains($finding, finding))
    and (len($subject) = 0 or list_contains($subject, subject))
    and (len($campaign) = 0 or list_contains($campaign, campaign))
    and not coalesce(list_contains($hidden, campaign), false)
order by
    severity <> 'suspect', severity <> 'warning', finding, campaign, source_path nulls last, subject_id, detail
limit $most
