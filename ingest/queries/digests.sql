-- One digest per unit: a file itself, each of its trials with everything below it, each reject; a campaign, a machine.
-- One line per kind of row; hash(rows) is of all its columns.
-- noqa: disable=AL03,AL05,LT09,LT14
with

of_trials as (

    select trial_id, hash(rows) as digest from exchanges as rows
    union all
    select trial_id, hash(rows) as digest from intervals as rows
    union all
    select trial_id, hash(rows) as digest from observations as rows where trial_id is not null

),

all_rows as (

    -- size, time and digest are part of a version's key, and with them the contents
    select campaign, source_path, 'file' as kind, '' as item, hash(format, status, trials, context_sha256) as digest
    from raw_files
    union all
    select campaign, source_path, 'configuration', '', hash(rows) from server_configs as rows
    union all
    select campaign, source_path, 'figure', '', hash(rows) from figures as rows
    union all
    select campaign, source_path, 'counter', '', hash(rows) from observations as rows where trial_id is null
    union all
    select campaign, source_path, 'reject', concat_ws(' ', line, reason, hint), hash(rows) from rejects as rows
    union all
    select campaign, source_path, 'trial', trial_id, hash(rows) from trials as rows
    union all
    select trials.campaign, trials.source_path, 'trial', trials.trial_id, of_trials.digest
    from of_trials
    inner join trials on of_trials.trial_id = trials.trial_id
    union all
    select distinct campaign, '', 'shared', '', hash(rows) from campaigns as rows
    union all
    select distinct campaign, source_path, 'shared', '', hash(rows) from hosts as rows

)

select
    campaign,
    source_path,
    kind,
    item,
    sum(digest) as digest,
    count(*) as held
from all_rows
where source_path is not null
group by campaign, source_path, kind, item
