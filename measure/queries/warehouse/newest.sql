-- the campaign that was measured last, other than the baseline; not all generators print the time
select capacity.campaign
from capacity
inner join campaigns on capacity.campaign = campaigns.campaign
where capacity.origin = 'measured' and $baseline not in (capacity.campaign, capacity.product_version)
order by
    coalesce(capacity.last_started_at, campaigns.started_on) desc nulls last, campaigns.last_batch desc,
    capacity.campaign desc
limit 1
