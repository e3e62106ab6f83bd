-- The measured campaigns, the one with the newest trial first.
select
    campaign,
    title,
    configurations,
    runs,
    trials,
    files,
    rejected_files,
    last_started_at,
    last_batch
from campaigns
where origin = 'measured'
order by last_started_at desc nulls last, campaign asc
