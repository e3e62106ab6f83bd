"""What the table of trials must be like, seen as one row: the trials of the lake, each once."""

from typing import Final

from dropline.expectations.suite import Suite, between

SUITE: Final = Suite(
    name="marts/trials",
    query="""
        with
        apart as (
            select
                in_lake.trial_id as lake_id,
                in_mart.trial_id as mart_id
            from lake_trials as in_lake
            full outer join trials as in_mart on in_lake.trial_id = in_mart.trial_id
            where in_lake.trial_id is null or in_mart.trial_id is null
        ),
        dropped_findings as (
            select finding, trial_id
            from lake_findings
            where severity = 'warning' and trial_id is not null
            except
            select finding, trial_id from quality_findings
        )

        select
            (select count(distinct lake_id) from apart) as missing_trials,
            (
                select string_agg(lake_id, ', ')
                from (select distinct lake_id from apart where lake_id is not null order by all limit 10)
            ) as missing_ids,
            (select count(distinct mart_id) from apart) as unknown_trials,
            (
                select string_agg(mart_id, ', ')
                from (select distinct mart_id from apart where mart_id is not null order by all limit 10)
            ) as unknown_ids,
            (select count(*) - count(distinct trial_id) from trials) as repeated_trials,
            (select count(*) from dropped_findings) as dropped_findings,
            (
                select string_agg(finding || ' of ' || trial_id, ', ')
                from (select * from dropped_findings order by all limit 10)
            ) as dropped_ids
    """,
    expectations=(
        between(
            "missing_trials",
            0,
            0,
            code="trials_missing",
            severity="critical",
            reason="Every current trial of the lake is in the warehouse.",
            detail="{missing_trials} trials of the lake are missing: {missing_ids}",
        ),
        between(
            "unknown_trials",
            0,
            0,
            code="trials_unknown",
            severity="critical",
            reason="Every trial of the warehouse is a current one of the lake.",
            detail="{unknown_trials} trials are in no current file of the lake: {unknown_ids}",
        ),
        between(
            "repeated_trials",
            0,
            0,
            code="trials_repeated",
            severity="critical",
            reason="A trial that stands twice counts twice in every average.",
            detail="{repeated_trials} rows repeat a trial_id",
        ),
        between(
            "dropped_findings",
            0,
            0,
            code="findings_missing",
            severity="critical",
            reason="What the gate found is shown with the trials concerned.",
            detail="{dropped_findings} findings are missing from quality_findings: {dropped_ids}",
        ),
    ),
)
