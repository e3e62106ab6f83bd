-- The findings that match every filter, gravest first; an empty filter matches all, of published figures if asked for.
with

published as (

    select campaign
    from campaigns
    where origin = 'published'

)

select * from quality_findings
where (len($severities) = 0 or list_contains($severities, severity))
    and (len($findings) = 0 or list_contains($findings, finding))
    and (len($subjects) = 0 or list_contains($subjects, subject))
    and (len($campaigns) = 0 or list_contains($campaigns, campaign))
    and ($is_published or coalesce(campaign not in (select published.campaign from published), true))
order by
    severity <> 'suspect', severity <> 'warning', finding, campaign, source_path nulls last, subject_id, detail
limit $most
