"""What a value watched beside a trial must be like."""

from typing import Final

from expectations.suite import Suite, at_least

SUITE: Final = Suite(
    name="lake/observations",
    query="""
        select
            observations.campaign,
            trials.source_path,
            observations.trial_id,
            observations.metric,
            observations.value,
            observations.unit,
            case
                when observations.unit in ('packets', 'leases', 'queries', 'bytes', 'jiffies', 's')
                    then observations.value
            end as counted_value
        from observations
        inner join trials on observations.trial_id = trials.trial_id
    """,
    expectations=(
        at_least(
            "counted_value",
            0,
            code="negative_observation",
            severity="warning",
            reason=("Times and counts over a trial grow; a negative one means that the counter was reset."),
            detail="{metric} is {value:.6g} {unit}",
        ),
    ),
)
