"""The suites of the marts, held against a warehouse before it is published.

The queries see its tables and, of the lake that it was built from, the current rows: `lake_trials`
(trial_id) and `lake_findings` (finding, severity, trial_id).
"""

from typing import Final

from dropline.expectations.marts import (
    capacity,
    configurations,
    copies,
    leases_per_second,
    published_figures,
    ratios,
    run_steps,
    trial_counters,
    trials,
)
from dropline.expectations.suite import Suite

SUITES: Final[tuple[Suite, ...]] = (
    trials.SUITE,
    copies.SUITE,
    trial_counters.SUITE,
    configurations.SUITE,
    run_steps.SUITE,
    capacity.SUITE,
    leases_per_second.SUITE,
    *ratios.SUITES,
    published_figures.SUITE,
)
