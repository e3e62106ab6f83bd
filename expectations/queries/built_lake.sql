-- What the suites of the marts see of the batches that a warehouse was built from.
create temp view built_files as
select
    campaign,
    source_path,
    batch,
    hash(campaign, source_path) as file_hash
from all_raw_files
where batch in (select unnest(build_info.lake_batches) from build_info);

-- Few files have several versions: those are found by a hash, and only what shares one is compared.
create temp table superseded_files as
with
shared as (
    select file_hash
    from built_files
    group by file_hash
    having count(*) > 1
)

select
    campaign,
    source_path,
    batch
from built_files
where file_hash in (from shared)
qualify batch < max(batch) over (partition by campaign, source_path);

create temp view lake_trials as
select all_trials.trial_id
from all_trials
anti join superseded_files
    on all_trials.campaign = superseded_files.campaign
        and all_trials.source_path = superseded_files.source_path
        and all_trials.batch = superseded_files.batch
where all_trials.batch in (select unnest(build_info.lake_batches) from build_info);

create temp view lake_findings as
select
    all_findings.finding,
    all_findings.severity,
    all_findings.trial_id
from all_findings
semi join built_files
    on all_findings.campaign = built_files.campaign
        and all_findings.source_path = built_files.source_path
        and all_findings.batch = built_files.batch
anti join superseded_files
    on all_findings.campaign = superseded_files.campaign
        and all_findings.source_path = superseded_files.source_path
        and all_findings.batch = superseded_files.batch;
