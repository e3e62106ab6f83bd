"""Judgement of trials with the models' own SQL."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa

from dropline.ingest.campaign import Method
from dropline.measure.macros import looked_up, query
from dropline.measure.search import Goal, Trial

_COLUMNS: Final = pa.schema(
    [
        ("configuration", pa.string()),
        ("run_id", pa.int64()),
        ("loss_goal", pa.string()),
        ("loss_limit", pa.float64()),
        ("loss_basis", pa.string()),
        ("exceed_ratio", pa.float64()),
        ("offered_rate", pa.float64()),
        ("achieved_rate", pa.float64()),
        ("loss_ratio", pa.float64()),
        ("loss_lease", pa.float64()),
        ("is_generator_limited", pa.bool_()),
        ("is_unsustained", pa.bool_()),
    ]
)


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
        """The width of the 95 % interval divided by the rate."""
        if self.rate is None or self.low is None or self.high is None or not self.is_confidence:
            return None
        return (self.high - self.low) / self.rate


Told = tuple[str, int, "Iterable[Trial]"]
"""A run: its configuration, number and trials. Run numbers are unique and ascend in time."""


def capacities(runs: Iterable[Told], goals: Iterable[Goal], method: Method) -> list[Capacity]:
    """Judge runs by the campaign's method."""
    with duckdb.connect() as connection:
        connection.register("run_capacity", rates_of_runs(runs, goals))
        connection.register("method", pa.Table.from_pylist([method.model_dump()]))
        connection.execute(looked_up())
        return [Capacity(*row) for row in connection.execute(query("models/capacities")).fetchall()]


def rates_of_runs(runs: Iterable[Told], goals: Iterable[Goal]) -> pa.Table:
    """Return the columns of the model int_run_capacity for the runs, with the configuration's name."""
    goals = list(goals)
    rows = [
        (
            *(configuration, number, goal.name, goal.limit, goal.basis, goal.exceed_ratio),
            *(float(trial.rate), trial.achieved, trial.losses[goal.basis], trial.losses["lease"], trial.is_limited),
            trial.is_unsustained or trial.errors > goal.error_limit,
        )
        for configuration, number, trials in runs
        for trial in trials
        for goal in goals
    ]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in _COLUMNS.names]
    with duckdb.connect() as connection:
        connection.register("trials", pa.table(columns, schema=_COLUMNS))
        return connection.sql(query("models/rates_of_runs")).to_arrow_table()
