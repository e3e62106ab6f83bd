with
-- a number is looked up many times faster than three texts; it may stand for several of them
shared as (
    select hash(batch, campaign, source_path) as file_hash
    from raw_files
    group by all
    having count(*) > 1
),

repeated as (
    select
        batch,
        campaign,
        source_path,
        count(*) as versions
    from raw_files
    where hash(batch, campaign, source_path) in (from shared)
    group by batch, campaign, source_path
    having count(*) > 1
),

found as (
    select
        batch,
        campaign,
        source_path,
        count(*) as trials
    from trials
    group by batch, campaign, source_path
),

refused as (
    select
        batch,
        campaign,
        source_path,
        count(*) as rejects
    from rejects
    group by batch, campaign, source_path
)

select
    raw_files.batch,
    raw_files.campaign,
    raw_files.source_path,
    coalesce(repeated.versions, 1) as versions,
    coalesce(raw_files.trials, 0) as registered_trials,
    coalesce(found.trials, 0) as found_trials,
    raw_files.size_bytes,
    raw_files.status,
    raw_files.modified_at,
    (epoch(raw_files.modified_at) - epoch(now())) / 86400 as modified_days_ahead,
    coalesce(refused.rejects, 0) as rejects
from raw_files
left join repeated
    on raw_files.batch = repeated.batch
        and raw_files.campaign = repeated.campaign
        and raw_files.source_path = repeated.source_path
left join found
    on raw_files.batch = found.batch
        and raw_files.campaign = found.campaign
        and raw_files.source_path = found.source_path
left join refused
    on raw_files.batch = refused.batch
        and raw_files.campaign = refused.campaign
        and raw_files.source_path = refused.source_path
