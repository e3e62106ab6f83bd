"""What the register of input files must be like: nothing that was read may be missing."""

from typing import Final

from expectations.suite import Suite, between

SUITE: Final = Suite(
    name="lake/raw_files",
    query="""
        select
            raw_files.campaign,
            raw_files.source_path,
            count(*) over (partition by raw_files.campaign, raw_files.source_path) as versions,
            coalesce(raw_files.trials, 0) as registered_trials,
            coalesce(found.trials, 0) as found_trials,
            coalesce(found.trials, 0) - coalesce(raw_files.trials, 0) as trials_off
        from raw_files
        left join (
            select campaign, source_path, count(*) as trials
            from trials
            group by campaign, source_path
        ) as found
            on raw_files.campaign = found.campaign
            and raw_files.source_path = found.source_path
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
    ),
)
