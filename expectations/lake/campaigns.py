"""What the description of a campaign must be like. A finding is about its campaign.yaml."""

from typing import Final

from dropline.expectations.suite import Suite, at_least, at_most

SUITE: Final = Suite(
    name="lake/campaigns",
    query="""
        select
            campaigns.batch,
            campaigns.campaign,
            files.source_path,
            campaigns.started_on,
            campaigns.discard_lowest,
            campaigns.discard_highest,
            campaigns.discard_from_runs,
            least(campaigns.discard_lowest, campaigns.discard_highest) as fewest_discarded,
            campaigns.discard_from_runs - coalesce(campaigns.discard_lowest, 0) - coalesce(campaigns.discard_highest, 0)
                as fewest_kept,
            campaigns.started_on - current_date as days_ahead,
            campaigns.started_on - date '2000-01-01' as days_since_2000
        from campaigns
        left join (
            select batch, campaign, min(source_path) as source_path
            from raw_files
            where format = 'campaign'
            group by batch, campaign
        ) as files
            on campaigns.batch = files.batch
            and campaigns.campaign = files.campaign
    """,
    expectations=(
        at_least(
            "fewest_discarded",
            0,
            code="negative_discard",
            severity="critical",
            reason="A method leaves out no runs or some.",
            detail="{discard_lowest} lowest and {discard_highest} highest runs are to be left out",
        ),
        at_least(
            "fewest_kept",
            1,
            code="discard_leaves_no_run",
            severity="critical",
            reason="An average needs a run that is not left out.",
            detail="of {discard_from_runs} runs the {discard_lowest} lowest and {discard_highest} highest are left out",
        ),
        at_most(
            "days_ahead",
            366,
            code="campaign_in_future",
            severity="warning",
            reason="What was measured was not measured more than a year from now; the date is misspelt.",
            detail="started on {started_on}",
        ),
        at_least(
            "days_since_2000",
            0,
            code="campaign_before_2000",
            severity="warning",
            reason="No generator known here is that old; the date is misspelt.",
            detail="started on {started_on}",
        ),
    ),
)
