-- the campaign that was measured last, other than the baseline
select campaign
from capacity
where origin = 'measured' and $baseline not in (campaign, product_version)
order by last_started_at desc nulls last
limit 1
