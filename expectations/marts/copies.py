"""What the reports of the trials must be like beside each other: of every one there is one."""

from typing import Final

from expectations.suite import Suite, at_most

SUITE: Final = Suite(
    name="marts/copies",
    query="""
        select
            campaign,
            source_path,
            trial_id,
            configuration_id,
            count(*) over report as copies,
            if(source_path = max(source_path) over report, min(source_path) over report, max(source_path) over report)
                as elsewhere
        from trials
        window report as (partition by source_sha256, report_index)
    """,
    expectations=(
        at_most(
            "copies",
            1,
            code="report_copied",
            severity="warning",
            reason=(
                "Two trials never agree in every byte of their reports; a copy under another name counts as another "
                "run or stands for another configuration."
            ),
            detail="the same bytes stand in {copies} places, one of them {elsewhere}",
        ),
    ),
)
