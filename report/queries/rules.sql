select
    campaign,
    if(exceed_ratio = 0, 'a step is its worst trial; ', '') || if(
        discard_lowest = 0 and coalesce(discard_highest, 0) = 0,
        'none: all runs count',
        format(
            'lowest {} and highest {}, from {} runs on',
            discard_lowest,
            discard_highest,
            greatest(discard_from_runs, 1)
        )
    ) as rule
from campaigns
where campaign in (select unnest($campaigns)) and discard_lowest is not null
order by origin, campaign
