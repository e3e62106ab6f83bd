-- What differs, by file, and how many of its trials and rejects; a campaign has no path, a machine that of its folder.
-- Both sides of a full join share the columns.
-- noqa: disable=ST07,RF02
with

compared as (

    select
        campaign,
        source_path,
        kind,
        was.digest as digest_before,
        now.digest as digest_now,
        coalesce(was.held, 0) as held_before,
        coalesce(now.held, 0) as held_now
    from before as was
    full join after as now using (campaign, source_path, kind, item)
    where
        was.digest is distinct from now.digest
        -- not what is not read again with these files
        and (now.digest is not null or (campaign, source_path) in (select (campaign, source_path) from now.raw_files))

)

select
    campaign,
    source_path,
    count(*) filter (where kind = 'trial' and digest_before is null) as trials_added,
    count(*) filter (where kind = 'trial' and digest_now is null) as trials_removed,
    count(*) filter (where kind = 'trial' and digest_before <> digest_now) as trials_changed,
    coalesce(sum(greatest(held_now - held_before, 0)) filter (where kind = 'reject'), 0) as rejects_added,
    coalesce(sum(greatest(held_before - held_now, 0)) filter (where kind = 'reject'), 0) as rejects_removed
from compared
group by campaign, source_path
