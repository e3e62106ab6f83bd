"""Judgement of trials with the models' own SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb
import pyarrow as pa

from dropline.measure.macros import looked_up, sql

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def capacities(runs: Iterable[Told], goals: Iterable[Goal], discarded: tuple[int, int, int]) -> list[Capacity]:
    """Judge runs.

    `discarded` is the campaign's method: runs left out at the low and the high end, and the minimum number of runs for
    it.
    """
    lowest, highest, from_runs = discarded
    with duckdb.connect() as connection:
        connection.register("run_capacity", rates_of_runs(runs, goals))
        connection.execute(looked_up())
        found = connection.execute(f"""
            with rated_runs as (
                select
                    *, configuration as configuration_id, 'here' as campaign, run_id as started_at,
                    {lowest:d} as discard_lowest, {highest:d} as discard_highest, {from_runs:d} as discard_from_runs
                from run_capacity
            ),
            {sql("capacities_of_runs")}
            select configuration_id, loss_goal, runs, rate_interpolated, ci_low, ci_high, interval_kind = 'confidence'
            from with_bounds
            order by configuration_id, loss_goal
        """)  # noqa: S608 - the text is ours
        return [Capacity(*row) for row in found.fetchall()]


def rates_of_runs(runs: Iterable[Told], goals: Iterable[Goal]) -> pa.Table:
    """Return the columns of the model int_run_capacity for the runs, with the configuration's name."""
    goals = list(goals)
    rows = [
        (
            *(configuration, number, goal.name, goal.limit, goal.basis, goal.exceed_ratio),
            *(float(trial.rate), trial.achieved, trial.losses[goal.basis], trial.is_limited),
            trial.is_unsustained or trial.errors > goal.error_limit,
        )
        for configuration, number, trials in runs
        for trial in trials
        for goal in goals
    ]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in _COLUMNS.names]
    with duckdb.connect() as connection:
        connection.register("trials", pa.table(columns, schema=_COLUMNS))
        return connection.sql(f"""
            with judged_steps as (
                select
                    run_id, loss_goal, loss_limit, loss_basis, offered_rate,
                    median(achieved_rate) as achieved_rate, {sql("of_step", "loss_ratio")} as loss_ratio,
                    2 * count(*) filter (where is_generator_limited) >= count(*) as is_generator_limited,
                    false as is_pace_lost, {sql("is_of_step", "is_unsustained")} as is_unsustained
                from trials
                group by run_id, loss_goal, loss_limit, loss_basis, offered_rate
            ),
            {sql("run_brackets")}
            select run_capacities.*, configurations.configuration
            from run_capacities
            inner join (select distinct run_id, configuration from trials) as configurations using (run_id)
        """).to_arrow_table()  # noqa: S608 - the text is ours
