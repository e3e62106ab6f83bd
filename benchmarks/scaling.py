"""How often the intervals of the scalability law contain the truth, on simulated servers whose truth is known.

Run it with `python -m benchmarks.scaling`; it takes a minute and writes benchmarks/results/scaling.md. `misfit` shifts
all runs of a thread count together, like a server that follows the law only roughly; then the truth is the law's.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from benchmarks.plots import publish, table
from dropline.inference.scaling import Fit, fit, law

SERVERS = 2000
SEED = 2544


class Scenario(NamedTuple):
    """Thread counts, runs at each, the scatter of a run and of a thread count (standard deviations), and the truth."""

    counts: tuple[int, ...]
    runs: int
    noise: float
    misfit: float
    sigma: float
    kappa: float

    @property
    def peak(self) -> float:
        """The thread count of the highest rate; infinite without coherency."""
        return float(np.sqrt((1 - self.sigma) / self.kappa)) if self.kappa else float("inf")


class Outcome(NamedTuple):
    """Shares of the simulated servers: fitted, with a reported peak, and with each parameter within its interval."""

    fitted: float
    peaked: float
    coverage: dict[str, float]


SCENARIOS = (
    Scenario((1, 2, 4, 8), 5, 0.02, 0, 0.05, 0.005),
    Scenario((1, 2, 4, 8, 16), 9, 0.02, 0, 0.05, 0.002),
    Scenario((1, 2, 4), 9, 0.02, 0, 0.10, 0.02),
    Scenario((1, 2, 4, 8, 12, 16), 1, 0.02, 0, 0.05, 0.002),
    Scenario((8, 12, 16, 32), 1, 0.02, 0, 0.10, 0.003),
    Scenario((1, 2, 4, 8, 16), 5, 0.02, 0, 0.20, 0),
    Scenario((1, 2, 4, 8, 16), 5, 0.02, 0, 0, 0.002),
    Scenario((1, 2, 4, 8, 16), 5, 0.10, 0, 0.05, 0.005),
    Scenario((1, 2, 4, 8, 16), 5, 0.02, 0.02, 0.05, 0.005),
    Scenario((1, 2, 4, 8, 16), 5, 0.02, 0.05, 0.05, 0.005),
)


def main() -> None:
    """Simulate all scenarios, print the table, and write it to benchmarks/results/scaling.md."""
    rows = [_row(scenario, simulate(scenario, SERVERS)) for scenario in SCENARIOS]
    given, found = ["threads", "runs", "noise", "misfit", "sigma", "kappa"], ["fitted", "lambda", "sigma", "kappa"]
    head = (
        f"{SERVERS:,} simulated servers a row, lambda = 1000; intervals of 95 %, the error of a share is 0.5 %.\n"
        "Coverage is over the servers that were fitted, for the peak over those whose peak was told.\n"
        "Where the truth is the limit of its range (0), an interval that begins there is right more often.\n\n"
    )
    publish("scaling", f"{head}{table([*given, *found, 'peak told', 'peak'], rows)}\n")


def simulate(scenario: Scenario, servers: int) -> Outcome:
    """Fit `servers` simulated servers with the scenario's truth."""
    draw = np.random.default_rng(SEED)
    threads = np.repeat(scenario.counts, scenario.runs)
    truth = np.array([law(count, 1000, scenario.sigma, scenario.kappa) for count in threads])
    held: Counter[str] = Counter()
    fitted = peaked = 0
    for _ in range(servers):
        moved = np.repeat(draw.normal(1, scenario.misfit, len(scenario.counts)), scenario.runs)
        found = fit(threads.tolist(), (truth * moved * draw.normal(1, scenario.noise, len(threads))).tolist())
        if isinstance(found, Fit):
            fitted += 1
            peaked += found.peak_threads is not None
            held.update(_held(found, scenario))
    shares = {name: held[name] / max(fitted, 1) for name in ("rate_one_thread", "sigma", "kappa")}
    return Outcome(
        fitted / servers, peaked / servers, {**shares, "peak_threads": held["peak_threads"] / max(peaked, 1)}
    )


def _held(found: Fit, scenario: Scenario) -> list[str]:
    """Return the names of the parameters whose interval contains the truth."""
    truth = {"rate_one_thread": 1000, "sigma": scenario.sigma, "kappa": scenario.kappa, "peak_threads": scenario.peak}
    estimates = {name: getattr(found, name) for name in truth}
    return [
        name
        for name, estimate in estimates.items()
        if estimate and (estimate.low or 0) <= truth[name] and (estimate.high is None or truth[name] <= estimate.high)
    ]


def _row(scenario: Scenario, outcome: Outcome) -> list[str]:
    covered = [outcome.coverage[name] for name in ("rate_one_thread", "sigma", "kappa")]
    return [
        ", ".join(map(str, scenario.counts)),
        f"{scenario.runs}",
        *(f"{ratio:.0%}" for ratio in (scenario.noise, scenario.misfit)),
        *(f"{truth:g}" for truth in (scenario.sigma, scenario.kappa)),
        *(f"{share:.1%}" for share in (outcome.fitted, *covered, outcome.peaked)),
        f"{outcome.coverage['peak_threads']:.1%}" if outcome.peaked else "-",
    ]


if __name__ == "__main__":
    main()
