"""Judgement of trials with the models' own SQL."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import duckdb
import pyarrow as pa

from dropline.ingest.campaign import Method
from dropline.measure.macros import looked_up, query
from dropline.measure.search import Goal, Trial


class Capacity(NamedTuple):
    """The capacity of a configuration at a loss goal, with its interval or bracket; unknown values are None."""

    configuration: str
    goal: str
    runs: int
    rate: float | None
    low: float | None
    high: float | None
    is_confidence: bool

    @property
    def width(self) -> float | None:
        """Width of the 95 % interval divided by the rate."""
        if self.rate is None or self.low is None or self.high is None or not self.is_confidence:
            return None
        return (self.high - self.low) / self.rate


NumberedRun = tuple[str, int, "Iterable[Trial]"]
"""A run: its configuration, number and trials. Run numbers are unique and ascend in time."""


def capacities(runs: Sequence[NumberedRun], goals: Iterable[Goal], method: Method) -> list[Capacity]:
    """Return the capacities of runs by the campaign's method."""
    if not runs:
        return []
    with duckdb.connect() as connection:
        connection.register("run_capacity", rates_of_runs(runs, goals))
        connection.register("method", pa.Table.from_pylist([method.model_dump()]))
        connection.execute(looked_up())
        return [Capacity(*row) for row in connection.execute(query("models/capacities")).fetchall()]


def rates_of_runs(runs: Iterable[NumberedRun], goals: Iterable[Goal]) -> pa.Table:
    """Return the rows of the model int_run_capacity for these runs, with the name of the configuration."""
    goals = list(goals)
    rows = [
        {
            "configuration": configuration,
            "run_id": number,
            "loss_goal": goal.name,
            "loss_limit": goal.limit,
            "loss_basis": goal.basis,
            "exceed_ratio": goal.exceed_ratio,
            "offered_rate": float(trial.rate),
            "achieved_rate": float(trial.achieved),
            "loss_ratio": float(trial.losses[goal.basis]),
            "loss_lease": float(trial.losses["lease"]),
            "is_generator_limited": trial.is_limited,
            "is_pace_lost": trial.is_limited and trial.is_unsustained and trial.errors <= goal.error_limit,
            "is_unsustained": trial.is_unsustained or trial.errors > goal.error_limit,
        }
        for configuration, number, trials in runs
        for trial in trials
        for goal in goals
    ]
    with duckdb.connect() as connection:
        connection.register("trials", pa.Table.from_pylist(rows))
        return connection.sql(query("models/rates_of_runs")).to_arrow_table()
