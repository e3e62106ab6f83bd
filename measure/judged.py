"""What a build would say of trials at hand: the models' own SQL over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb
import pyarrow as pa

from dropline.measure.macros import seed, sql

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dropline.measure.search import Goal, Trial

_COLUMNS: Final = (
    *("configuration_id", "run_id", "loss_goal", "loss_limit", "loss_basis", "offered_rate", "achieved_rate"),
    *("loss_ratio", "is_generator_limited", "is_unsustained"),
)
_STEPS: Final = """
    with steps as (
        select
            configuration_id, run_id, loss_goal, loss_limit, loss_basis, offered_rate,
            median(achieved_rate) as achieved_rate, round(median(loss_ratio), 12) as loss_ratio,
            2 * count(*) filter (where is_generator_limited) >= count(*) as is_generator_limited,
            false as is_pace_lost, 2 * count(*) filter (where is_unsustained) >= count(*) as is_unsustained
        from trials
        group by configuration_id, run_id, loss_goal, loss_limit, loss_basis, offered_rate
    )
"""


class Capacity(NamedTuple):
    """The rate of a configuration at a loss goal, with its interval or bracket; what is not known is None."""

    configuration: str
    goal: str
    runs: int
    rate: float | None
    low: float | None
    high: float | None
    is_confidence: bool

    @property
    def width(self) -> float | None:
        """The width of the 95 % interval as a share of the rate."""
        if self.rate is None or self.low is None or self.high is None or not self.is_confidence:
            return None
        return (self.high - self.low) / self.rate


def capacities(
    runs: Iterable[tuple[str, int, Iterable[Trial]]], goals: Iterable[Goal], discarded: tuple[int, int, int]
) -> list[Capacity]:
    """Judge runs (configuration, number, trials); the numbers of all runs differ and follow their order in time.

    `discarded` is the campaign's method: how many runs are left out at the low and the high end, from how many on.
    """
    goals = list(goals)
    rows = [
        (
            *(configuration, number, goal.name, goal.limit, goal.basis, float(trial.rate), trial.achieved),
            *(trial.losses[goal.basis], trial.is_limited, trial.is_unsustained or trial.errors > goal.error_limit),
        )
        for configuration, number, trials in runs
        for trial in trials
        for goal in goals
    ]
    if not rows:
        return []
    trials = pa.table(dict(zip(_COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))
    lowest, highest, from_runs = discarded
    with duckdb.connect() as connection:
        connection.register("trials", trials)
        for name in ("student_t", "interval_constants"):
            connection.execute(seed(name))
        found = connection.execute(f"""
            {_STEPS},
            judged_steps as (select * exclude (configuration_id) from steps),
            {sql("run_brackets")},
            rated_runs as (
                select
                    run_capacities.*, configurations.configuration_id, 'here' as campaign, run_id as started_at,
                    {lowest:d} as discard_lowest, {highest:d} as discard_highest, {from_runs:d} as discard_from_runs
                from run_capacities
                inner join (select distinct run_id, configuration_id from steps) as configurations using (run_id)
            ),
            {sql("capacities_of_runs")}
            select configuration_id, loss_goal, runs, rate_interpolated, ci_low, ci_high, interval_kind = 'confidence'
            from with_bounds
            order by configuration_id, loss_goal
        """)  # noqa: S608 - the text is ours
        return [Capacity(*row) for row in found.fetchall()]
