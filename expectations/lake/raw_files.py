"""What the register of input files must be like: nothing that was read may be missing."""

from typing import Final

from dropline.expectations.suite import Suite, at_least, at_most, between, one_of

SUITE: Final = Suite(
    name="lake/raw_files",
    query="""
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
            if(raw_files.status in ('rejected', 'partly_rejected'), coalesce(refused.rejects, 0), null)
                as needed_rejects,
            coalesce(found.trials, 0) - coalesce(raw_files.trials, 0) as trials_off
        from raw_files
        left join (
            -- A number is looked up many times faster than three texts; it may stand for several of them.
            select batch, campaign, source_path, count(*) as versions
            from raw_files
            where hash(batch, campaign, source_path) in (
                select hash(batch, campaign, source_path) from raw_files group by all having count(*) > 1
            )
            group by batch, campaign, source_path
            having count(*) > 1
        ) as repeated
            on raw_files.batch = repeated.batch
            and raw_files.campaign = repeated.campaign
            and raw_files.source_path = repeated.source_path
        left join (
            select batch, campaign, source_path, count(*) as trials
            from trials
            group by batch, campaign, source_path
        ) as found
            on raw_files.batch = found.batch
            and raw_files.campaign = found.campaign
            and raw_files.source_path = found.source_path
        left join (
            select batch, campaign, source_path, count(*) as rejects
            from rejects
            group by batch, campaign, source_path
        ) as refused
            on raw_files.batch = refused.batch
            and raw_files.campaign = refused.campaign
            and raw_files.source_path = refused.source_path
    """,
    expectations=(
        between(
            "versions",
            1,
            1,
            code="file_repeated",
            severity="critical",
            reason="A batch holds one version of a file; of two nobody could say which is current.",
            detail="the file stands in {versions} rows of the batch",
        ),
        between(
            "trials_off",
            0,
            0,
            code="trials_miscounted",
            severity="critical",
            reason="Every trial that was read from a file is in the lake, and no other.",
            detail=("{registered_trials} trials were read from the file, {found_trials} are in the lake"),
        ),
        at_least(
            "size_bytes",
            0,
            code="negative_file_size",
            severity="critical",
            reason="Bytes are counted from zero upwards.",
            detail="the file is said to have {size_bytes} bytes",
        ),
        one_of(
            "status",
            ("trials", "observations", "figures", "context", "rejected", "partly_rejected", "ignored", "forgotten"),
            code="file_status_unknown",
            severity="critical",
            reason="Every file ends as something; of another word nobody could say what became of it.",
            detail="the file ended as {status!r}",
        ),
        at_least(
            "needed_rejects",
            1,
            code="rejected_without_reason",
            severity="critical",
            reason="What is refused is refused with a reason and what to do about it.",
            detail="the file is {status}, but no reason is kept",
        ),
        at_most(
            "modified_days_ahead",
            1,
            code="file_from_future",
            severity="warning",
            reason="A file of more than a day ahead comes from a machine with a wrong clock.",
            detail="modified at {modified_at}, {modified_days_ahead:.1f} days ahead",
        ),
    ),
)
