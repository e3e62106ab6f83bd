-- Rows of the files of one entry of the log that contradict each other: the table, and the contradiction.
-- Anti joins bring no columns, and both sides share those of the left join.
-- noqa: disable=ST07,RF02
with

held as (

    select
        campaign,
        source_path,
        batch,
        count(*) as trials
    from trials
    group by campaign, source_path, batch

),

raw_rows as (

    select format('{}: {} is of batch {}', campaign, source_path, batch) as said
    from raw_files
    where batch not in (select unnest($batches))
    union all
    select format('the kept bytes of {}: {} are not those of its SHA-256', campaign, source_path) as said
    from raw_files
    where octet_length(content) <> size_bytes or sha256(content) <> sha256

),

trial_rows as (

    select format('{}: {} has trials and no raw file', campaign, source_path) as said
    from held
    anti join raw_files using (campaign, source_path, batch)
    union all
    select
        format(
            '{}: {} has {} trials, and raw_files says {}',
            campaign,
            source_path,
            coalesce(held.trials, 0),
            raw_files.trials
        ) as said
    from raw_files
    left join held using (campaign, source_path, batch)
    where coalesce(held.trials, 0) <> raw_files.trials

),

orphans as (

    select 'exchanges' as name
    from exchanges
    anti join trials using (trial_id, batch)
    union all
    select 'intervals' as name
    from intervals
    anti join trials using (trial_id, batch)
    union all
    select 'observations' as name
    from observations
    where
        case
            when trial_id is not null then (trial_id, batch) not in (select (trial_id, batch) from trials)
            else
                source_path is not null
                and (campaign, source_path, batch) not in (select (campaign, source_path, batch) from raw_files)
        end

)

select
    'raw_files' as name,
    said
from raw_rows
union all
select
    'trials' as name,
    said
from trial_rows
union all
select
    name,
    format('{} rows belong to no trial and no file of the batch', count(*)) as said
from orphans
group by name
