"""Expectations of the marts, checked in a warehouse before it is published.

The queries see its tables and, of the lake that it was built from, the current rows: `lake_trials` (trial_id) and
`lake_findings` (finding, severity, trial_id).
"""

from typing import Final

from dropline.expectations.suite import Suite, critical, suite, warning

TRIALS: Final = suite(
    "marts/trials",
    trials_missing=critical(
        "missing_trials = 0",
        "{missing_trials} trials of the lake are missing: {missing_ids}",
        "Every current trial of the lake is in the warehouse.",
    ),
    trials_unknown=critical(
        "unknown_trials = 0",
        "{unknown_trials} trials are in no current file of the lake: {unknown_ids}",
        "Every trial of the warehouse is a current one of the lake.",
    ),
    trials_repeated=critical(
        "repeated_trials = 0",
        "{repeated_trials} rows repeat a trial_id",
        "A trial that is there twice counts twice in every average.",
    ),
    findings_missing=critical(
        "dropped_findings = 0",
        "{dropped_findings} findings are missing from quality_findings: {dropped_ids}",
        "What the gate found is shown with the trials concerned.",
    ),
)

COPIES: Final = suite(
    "marts/copies",
    report_copied=warning(
        "copies = 1",
        "the same bytes stand in {copies} places, one of them {elsewhere}",
        "No two trials have identical reports; a copy counts as another run, or as another configuration.",
    ),
)

TRIAL_COUNTERS: Final = suite(
    "marts/trial_counters",
    kernel_counter_falls=warning(
        "change >= 0",
        "{metric} falls from {value_before:.0f} to {value_after:.0f}",
        "A counter of the kernel (RFC 1213) falls only when the machine restarts; the trial's own count is lost then.",
    ),
)

CONFIGURATIONS: Final = suite(
    "marts/configurations",
    machine_changed=warning(
        "machines <= 1",
        "{configuration}: {machines} descriptions of the machine with different {differences}",
        "Runs repeat each other on the same machine only: hardware, system, kernel and packages; name a different one "
        "as another testbed.",
    ),
    server_configuration_changed=warning(
        "server_configurations <= 1",
        "{configuration}: {server_configurations} different configurations of the server",
        "Runs repeat each other with the same server configuration only; name a different one as another scenario.",
    ),
)

RUN_STEPS: Final = suite(
    "marts/run_steps",
    negative_step_rate=critical(
        "achieved_rate >= 0",
        "at {offered_rate:.6g}/s offered: {achieved_rate:.6g}/s achieved",
        "A rate is a count over a time; neither is negative.",
    ),
    loss_above_one=critical(
        "highest_loss <= 1",
        "at {offered_rate:.6g}/s offered: loss {highest_loss:.6g}",
        "No more can be lost than was sent.",
    ),
)

CAPACITY: Final = suite(
    "marts/capacity",
    negative_capacity=critical(
        "rate >= 0",
        "{configuration} at {loss_goal}: {rate:.6g} {rate_unit}",
        "A rate is a count over a time; neither is negative.",
    ),
    # averages of the runs kept differ from their largest in the last bits only
    capacity_exceeds_every_trial=critical(
        "rate <= (1 + 1e-9) * highest_achieved_rate",
        "{configuration} at {loss_goal}: {rate:.6g} {rate_unit}, best step {highest_achieved_rate:.6g}",
        "A capacity is an average of achieved rates, so it is not above all of them.",
    ),
    loss_basis_missing=critical(
        "origin = 'published' or loss_basis is not null",
        "{configuration} at {loss_goal}",
        "A limit on the loss means nothing without the loss that it limits.",
    ),
    runs_kept_exceed_runs=critical(
        "runs_kept <= runs",
        "{configuration} at {loss_goal}: {runs_kept} of {runs} runs kept",
        "The method leaves runs out; it adds none.",
    ),
    crossing_below_interval=critical(
        "ci_low <= rate_interpolated",
        "{configuration} at {loss_goal}: crossing {rate_interpolated:.6g}, interval from {ci_low:.6g}",
        "An interval or bracket contains its estimate.",
    ),
    crossing_above_interval=critical(
        "rate_interpolated <= ci_high",
        "{configuration} at {loss_goal}: crossing {rate_interpolated:.6g}, interval up to {ci_high:.6g}",
        "An interval or bracket contains its estimate.",
    ),
    capacity_exceeds_offered=warning(
        "rate <= 1.02 * highest_offered_rate",
        "{configuration} at {loss_goal}: {rate:.6g} {rate_unit}, highest offered {highest_offered_rate:.6g}",
        "No server completes more than it is asked for; 2 % are left for the generator's timing.",
    ),
    capacity_is_zero=warning(
        "origin <> 'measured' or rate > 0",
        "{configuration} at {loss_goal}: {rate:.6g} {rate_unit}",
        "A step that grants no lease and loses no packet shows a full pool or a refusing server.",
    ),
)

LEASES_PER_SECOND: Final = suite(
    "marts/leases_per_second",
    leases_per_second_empty=critical(
        "usable_trials = 0 or measured_rows > 0",
        "{usable_trials} usable trials gave {measured_rows} rows",
        "Completed DHCP trials with an offered rate give at least one row, be it only a bound.",
    ),
)


_RATES = "{treatment_rate:.6g} over {baseline_rate:.6g}"
RATIOS: Final = suite(
    "marts/ratios",
    ratio_not_positive=critical("ratio > 0", "{factor}: {ratio:.6g}", "Two positive capacities have a positive ratio."),
    ratio_not_quotient=critical(
        "abs(ratio * baseline_rate / nullif(treatment_rate, 0) - 1) <= 1e-9",
        f"{{factor}}: {{ratio:.6g}}, {_RATES}",
        "The ratio is the quotient of the two rates in the same row.",
    ),
    ratio_below_interval=critical(
        "ci_low <= ratio_interpolated",
        "{factor}: {ratio_interpolated:.6g} interpolated, interval from {ci_low:.6g}",
        "The interval of a ratio contains its estimate.",
    ),
    ratio_above_interval=critical(
        "ratio_interpolated <= ci_high",
        "{factor}: {ratio_interpolated:.6g} interpolated, interval up to {ci_high:.6g}",
        "The interval of a ratio contains its estimate.",
    ),
    ratio_implausible=warning(
        "ratio <= 0 or ratio between 0.001 and 1000",
        f"{{factor}}: {{ratio:.6g}}, {_RATES}",
        "One factor alone does not change a rate a thousandfold; the two tests differ in more.",
    ),
)

PUBLISHED_FIGURES: Final = suite(
    "marts/published_figures",
    figure_not_one_capacity=critical(
        "capacities = 1",
        "figure {figure_id} stands in capacity {capacities} times",
        "A published rate is one capacity: not lost, and not counted twice.",
    ),
    figure_changed=critical(
        "rate = value",
        "figure {figure_id}: {value:.6g} published, {rate:.6g} in capacity",
        "A published figure is shown as its source printed it.",
    ),
)

SUITES: Final[tuple[Suite, ...]] = (
    *(TRIALS, COPIES, TRIAL_COUNTERS, CONFIGURATIONS, RUN_STEPS, CAPACITY, LEASES_PER_SECOND, RATIOS),
    PUBLISHED_FIGURES,
)
