"""What a capacity must be like."""

from typing import Final

from dropline.expectations.suite import Suite, above, at_least, not_above, present

SUITE: Final = Suite(
    name="marts/capacity",
    query="""
        with
        tried as (
            select
                configuration_id,
                max(offered_rate) as highest_offered_rate,
                max(achieved_rate) as highest_achieved_rate
            from run_steps
            group by configuration_id
        )

        select
            capacity.campaign,
            capacity.configuration_id,
            capacity.configuration,
            capacity.loss_goal,
            capacity.rate,
            capacity.rate_unit,
            if(capacity.origin = 'published', '', capacity.loss_basis) as needed_loss_basis,
            case when capacity.origin = 'measured' then capacity.rate end as measured_rate,
            tried.highest_offered_rate,
            tried.highest_achieved_rate,
            1.02 * tried.highest_offered_rate as highest_plausible_rate,
            -- averages of the runs kept differ from their largest in the last bits only
            (1 + 1e-9) * tried.highest_achieved_rate as highest_possible_rate,
            capacity.runs,
            capacity.runs_kept,
            capacity.ci_low,
            capacity.rate_interpolated,
            capacity.ci_high
        from capacity
        left join tried on capacity.configuration_id = tried.configuration_id
    """,
    expectations=(
        at_least(
            "rate",
            0,
            code="negative_capacity",
            severity="critical",
            reason="A rate is a count over a time; neither is negative.",
            detail="{configuration} at {loss_goal}: {rate:.6g} {rate_unit}",
        ),
        not_above(
            "rate",
            "highest_possible_rate",
            code="capacity_exceeds_every_trial",
            severity="critical",
            reason=("A capacity is an average of rates that were achieved, so none is above all of them."),
            detail=("{configuration} at {loss_goal}: {rate:.6g} {rate_unit}, best step {highest_achieved_rate:.6g}"),
        ),
        present(
            "needed_loss_basis",
            code="loss_basis_missing",
            severity="critical",
            reason="A limit on the loss means nothing without the loss that it limits.",
            detail="{configuration} at {loss_goal}",
        ),
        not_above(
            "runs_kept",
            "runs",
            code="runs_kept_exceed_runs",
            severity="critical",
            reason="The method leaves runs out; it adds none.",
            detail="{configuration} at {loss_goal}: {runs_kept} of {runs} runs kept",
        ),
        not_above(
            "ci_low",
            "rate_interpolated",
            code="crossing_below_interval",
            severity="critical",
            reason="An interval or a bracket contains the estimate that lies between its ends.",
            detail=("{configuration} at {loss_goal}: crossing {rate_interpolated:.6g}, interval from {ci_low:.6g}"),
        ),
        not_above(
            "rate_interpolated",
            "ci_high",
            code="crossing_above_interval",
            severity="critical",
            reason="An interval or a bracket contains the estimate that lies between its ends.",
            detail=("{configuration} at {loss_goal}: crossing {rate_interpolated:.6g}, interval up to {ci_high:.6g}"),
        ),
        not_above(
            "rate",
            "highest_plausible_rate",
            code="capacity_exceeds_offered",
            severity="warning",
            reason=("No server completes more than it is asked for; 2 % are left for the generator's timing."),
            detail=(
                "{configuration} at {loss_goal}: {rate:.6g} {rate_unit}, highest offered {highest_offered_rate:.6g}"
            ),
        ),
        above(
            "measured_rate",
            0,
            code="capacity_is_zero",
            severity="warning",
            reason=("A step that grants no lease and loses no packet shows a full pool or a refusing server."),
            detail="{configuration} at {loss_goal}: {rate:.6g} {rate_unit}",
        ),
    ),
)
