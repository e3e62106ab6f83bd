-- Findings about a version of a file that a newer batch supersedes are left out.
with
newest as (
    select
        raw_files.campaign,
        raw_files.source_path,
        max(raw_files.batch) as batch
    from raw_files
    semi join findings
        on raw_files.campaign = findings.campaign
            and raw_files.source_path = findings.source_path
    group by raw_files.campaign, raw_files.source_path
)

select findings.*
from findings
left join newest
    on findings.campaign = newest.campaign
        and findings.source_path = newest.source_path
where newest.batch is null or newest.batch = findings.batch
order by all
