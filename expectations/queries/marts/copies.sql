with
reports as (
    select
        campaign,
        source_path,
        trial_id,
        configuration_id,
        source_sha256,
        report_index,
        concat(campaign, '/', source_path) as place,
        hash(source_sha256, report_index) as report_hash
    from trials
),

-- sorting all by 64 letters would take longer than to find the few that share a hash
shared as (
    select report_hash
    from reports
    group by report_hash
    having count(*) > 1
)

select
    campaign,
    source_path,
    trial_id,
    configuration_id,
    count(*) over report as copies,
    if(place = max(place) over report, min(place) over report, max(place) over report) as elsewhere
from reports
where report_hash in (from shared)
window report as (partition by source_sha256, report_index)
