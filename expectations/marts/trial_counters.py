"""What the kernel's counters around a trial must be like."""

from typing import Final

from dropline.expectations.suite import Suite, at_least

SUITE: Final = Suite(
    name="marts/trial_counters",
    query="""
        select
            trials.campaign,
            trials.source_path,
            trials.trial_id,
            trials.configuration_id,
            trial_counters.metric,
            trial_counters.value_before,
            trial_counters.value_after,
            -- a server that starts anew counts from zero, and is found as such; the kernel below it goes on
            if(
                regexp_matches(trial_counters.metric, '^udp(lite)?6?[.].*(Datagrams|NoPorts|Errors|Multi)$'),
                trial_counters.change,
                null
            ) as change
        from trial_counters
        inner join trials on trial_counters.trial_id = trials.trial_id
    """,
    expectations=(
        at_least(
            "change",
            0,
            code="kernel_counter_falls",
            severity="warning",
            reason=(
                "A counter of the kernel (RFC 1213) falls only when the machine starts anew; what was counted during "
                "the trial is unknown then."
            ),
            detail="{metric} falls from {value_before:.0f} to {value_after:.0f}",
        ),
    ),
)
