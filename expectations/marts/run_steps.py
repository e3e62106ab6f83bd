"""What one step of a ramp must be like."""

from typing import Final

from dropline.expectations.suite import Suite, at_least, at_most

SUITE: Final = Suite(
    name="marts/run_steps",
    query="""
        select
            runs.campaign,
            run_steps.configuration_id,
            run_steps.offered_rate,
            run_steps.achieved_rate,
            greatest(
                run_steps.loss_worst_exchange, run_steps.loss_packet, run_steps.loss_lease
            ) as highest_loss
        from run_steps
        inner join runs on run_steps.run_id = runs.run_id
    """,
    expectations=(
        at_least(
            "achieved_rate",
            0,
            code="negative_step_rate",
            severity="critical",
            reason="A rate is a count over a time; neither is negative.",
            detail="at {offered_rate:.6g}/s offered: {achieved_rate:.6g}/s achieved",
        ),
        at_most(
            "highest_loss",
            1,
            code="loss_above_one",
            severity="critical",
            reason="No more can be lost than was sent.",
            detail="at {offered_rate:.6g}/s offered: loss {highest_loss:.6g}",
        ),
    ),
)
