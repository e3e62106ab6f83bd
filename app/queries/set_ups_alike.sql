-- Campaigns with set-ups whose names differ only in numbers, and what to do if these are repetitions.
select distinct
    campaign,
    regexp_extract(detail, '[0-9]+ set-ups differ.*') as advice
from quality_findings
where finding = 'too_few_runs' and detail like '%set-ups differ%'
order by all
