with
files as (
    select
        batch,
        campaign,
        min(source_path) as source_path
    from raw_files
    where format = 'campaign'
    group by batch, campaign
)

select
    campaigns.batch,
    campaigns.campaign,
    files.source_path,
    campaigns.started_on,
    campaigns.discard_lowest,
    campaigns.discard_highest,
    campaigns.discard_from_runs,
    campaigns.exceed_ratio,
    least(campaigns.discard_lowest, campaigns.discard_highest) as fewest_discarded,
    campaigns.discard_from_runs - coalesce(campaigns.discard_lowest, 0) - coalesce(campaigns.discard_highest, 0)
        as fewest_kept,
    campaigns.started_on - current_date as days_ahead
from campaigns
left join files
    on campaigns.batch = files.batch
        and campaigns.campaign = files.campaign
