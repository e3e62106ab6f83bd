"""What the use of a processor, watched beside a trial, must be like."""

from typing import Final

from dropline.expectations.suite import Suite, at_least, not_above

SUITE: Final = Suite(
    name="lake/cpu",
    query="""
        select
            observations.batch,
            observations.campaign,
            observations.source_path,
            observations.trial_id,
            observations.metric,
            observations.value,
            if(observations.unit = '%', observations.value, null) as cpu_percent,
            100 * known_hosts.cpu_threads as highest_cpu_percent,
            if(observations.unit = 's' and observations.metric like '%cpu_s', observations.value, null) as cpu_s,
            -- counted over the life of the process, which is started before and ended after the load
            known_hosts.cpu_threads * (2 * trials.duration_s + coalesce(trials.wait_s, 0) + 60) as highest_cpu_s,
            known_hosts.cpu_threads
        from observations
        left join trials
            on observations.trial_id = trials.trial_id
            and observations.batch = trials.batch
        left join known_hosts on trials.host_id = known_hosts.host_id
        where observations.unit in ('%', 's') and observations.metric ilike '%cpu%'
    """,
    expectations=(
        at_least(
            "cpu_percent",
            0,
            code="cpu_below_zero",
            severity="warning",
            reason="No processor is busy for less than no time.",
            detail="{metric} is {value:.6g} %",
        ),
        not_above(
            "cpu_percent",
            "highest_cpu_percent",
            code="cpu_exceeds_threads",
            severity="warning",
            reason="A machine is busy on all of its hardware threads at most; the load was measured on another one.",
            detail="{metric} is {value:.6g} %; {cpu_threads} threads give at most {highest_cpu_percent} %",
        ),
        not_above(
            "cpu_s",
            "highest_cpu_s",
            code="cpu_time_exceeds_trial",
            severity="warning",
            reason=(
                "A process spends at most the time of the trial on each hardware thread; twice that and a minute are "
                "left for its start and end."
            ),
            detail="{metric} is {value:.6g} s; {cpu_threads} threads give at most {highest_cpu_s:.6g} s",
        ),
    ),
)
