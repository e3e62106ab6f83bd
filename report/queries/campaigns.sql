select
    campaign,
    title,
    origin,
    description,
    started_on,
    source_url,
    configurations,
    runs,
    trials,
    files,
    rejected_files,
    discard_lowest,
    discard_highest,
    discard_from_runs,
    first_started_at,
    last_started_at
from campaigns
where campaign in (select unnest($campaigns))
order by origin, campaign
