-- The newest trial (UTC), the newest batch and its campaigns; null or empty if there are none.
with

newest as (

    select max(last_batch) as batch from campaigns

)

select
    max(campaigns.last_started_at) as last_started_at,
    any_value(newest.batch) as last_batch,
    coalesce(
        list(campaigns.campaign order by campaigns.campaign)
        filter (where campaigns.last_batch = newest.batch), []
    ) as campaigns
from campaigns
cross join newest
