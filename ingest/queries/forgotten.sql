-- Files whose newest row marks them as forgotten: the batch of their last version, and whether they moved to another
-- campaign.
select
    campaign,
    source_path,
    coalesce(max(batch) filter (where status <> 'forgotten'), '') as last_batch,
    arg_max(scope, batch) <> campaign as has_moved
from raw_files
group by campaign, source_path
having arg_max(status, batch) = 'forgotten'
