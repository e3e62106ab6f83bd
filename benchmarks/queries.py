"""Latency of the dashboard's queries over the warehouse of a home: `python -m benchmarks.queries HOME`.

Every query in app/queries is asked with values drawn from the warehouse, different each time, matched by parameter
name. p50 and p95 are of the wall time until the answer is an Arrow table. The table goes to
benchmarks/results/queries.md.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks.plots import machine, p95, publish, table
from dropline.app import queries, wording
from dropline.app.warehouse import LIMITS, Warehouse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

TIMES: Final = 20
GOAL_MS: Final = 60.0  # of every question of the dashboard, at the 95th percentile
WORDS: Final = ("capacity", "loss", "generator")
# Tables that queries need besides those of the warehouse; queries that are such tables, or ask another database.
GIVEN: Final[dict[str, Mapping[str, str]]] = {
    "compare_verdicts": {"pairs": "compare_pairs"},
    "explore_texts": {"machines": "machines_hosts"},
    "machines_compared": {"leaves": "machines_leaves_of_hosts"},
    "own_figures": {"labels": "labels"},
    "run_configurations": {"labels": "labels"},
}
FED: Final = {
    *("compare_pairs", "versions_pairs", "machines_leaves_of_hosts", "machines_leaves_of_server_configurations"),
    "preview_runs",
}

# The values for one repetition: a trial with its run, its configuration and everything related.
_SUBJECTS: Final = """
    with

    chosen as (

        select * from trials
        where configuration_id in (select configuration_id from capacity where rate is not null)
        using sample reservoir($times rows) repeatable (7)

    )

    select
        chosen.trial_id,
        chosen.batch,
        chosen.run_id,
        chosen.configuration_id,
        chosen.campaign,
        chosen.tool,
        chosen.protocol,
        chosen.rate_unit,
        usual_goal(chosen.rate_unit) as usual,
        chosen.host_id,
        chosen.server_config_id,
        (select any_value(series_id) from trends where trends.run_id = chosen.run_id) as series_id,
        [chosen.configuration_id] || coalesce(
            (
                select list(other.configuration_id order by hash(other.configuration_id || chosen.trial_id))
                from configurations as other
                where other.origin = 'measured' and other.campaign = chosen.campaign
                    and other.configuration_id <> chosen.configuration_id
            )[1:3], []
        ) as configuration_ids
    from chosen
"""


class Times(NamedTuple):
    """The seconds of one question, one entry per repetition, and the median CPU seconds."""

    seconds: list[float]
    cpu_s: float

    @property
    def p50_ms(self) -> float:
        """The median, milliseconds."""
        return 1000 * statistics.median(self.seconds)

    @property
    def p95_ms(self) -> float:
        """The 95th percentile, milliseconds."""
        return 1000 * p95(self.seconds)


def main() -> None:
    """Measure, print the table, and write it to benchmarks/results/queries.md."""
    read = argparse.ArgumentParser(prog="python -m benchmarks.queries", description="Measure the questions.")
    read.add_argument("home", type=Path)
    read.add_argument("--times", type=int, default=TIMES, help="repetitions of each question")
    given = read.parse_args()
    warehouse = Warehouse.open(given.home / "warehouse.duckdb")
    subjects = list(drawn(warehouse, given.times))
    asked = {name: timed(sql, warehouse, subjects) for name, sql in questions().items()}
    publish("queries", f"{_head(warehouse, given.times)}\n\n{_dashboard(asked)}\n")


def questions() -> dict[str, str]:
    """Return the text of each query of the dashboard by its file, without those that only feed others."""
    names = {file.stem for file in queries.FOLDER.glob("*.sql")} - FED
    changes = queries.text("compare_verdicts", pairs="versions_pairs")
    return {name: queries.text(name, **GIVEN.get(name, {})) for name in sorted(names)} | {"version_changes": changes}


def drawn(warehouse: Warehouse, times: int) -> Iterator[dict[str, Any]]:
    """Yield `times` sets of parameters by name: trials of the warehouse and related values."""
    goals = [goal["loss_goal"] for goal in queries.loss_goals(warehouse) if goal["loss_limit"] is not None]
    families, claims, figures, hosts = (
        warehouse.query(f"select {column} from {name} order by all")[column].to_pylist()  # noqa: S608 -- ours
        for name, column in (
            ("thread_scaling", "family_id"),
            ("claims", "claim_id"),
            ("published_figures", "figure_id"),
            ("hosts", "host_id"),
        )
    )
    known = queries.ask(warehouse, "versions_known", loss_goal=None).to_pylist()
    versions = known or [dict.fromkeys(("product", "version", "previous_version"))]
    rows = warehouse.query(_SUBJECTS.replace("$times", str(times))).to_pylist()
    for place, row in enumerate(rows):
        turn = _turn(place)
        one, other = (row["configuration_ids"] * 2)[:2]
        yield row | {
            "loss_goal": turn(goals),
            "basis": turn(["worst_exchange", "packet", "lease"]),
            "limit": turn([0.001, 0.01, 0.02, 0.05]),
            "each_run": turn([True, False]),
            "factor": turn(list(wording.FACTORS)),
            "needed_lps": turn([500.0, 2_000.0, 10_000.0]),
            "family_id": turn(families or [""]),
            "claim_id": turn(claims),
            "figure_id": turn(figures),
            "word": turn(WORDS),
            "one": one,
            "other": other,
            "a": turn(hosts),
            "b": _turn(place + 1)(hosts),
            "rate_units": [row["rate_unit"]],
            "most": queries.MOST_ROWS,
            **{each: [] for each in ("severities", "findings", "subjects", "campaigns", "hidden")},
            **turn(versions),
        }


def _turn(place: int) -> Callable[[Sequence[Any]], Any]:
    return lambda values: values[place % len(values)]


def timed(sql: str, warehouse: Warehouse, subjects: Sequence[Mapping[str, Any]]) -> Times:
    """Time a question of the dashboard with the values of each subject, after a warm-up with those of the first."""
    names = set(re.findall(r"\$(\w+)", sql))
    seconds, cpu_s = [], []
    for subject in (subjects[0], *subjects):
        given = {name: subject[name] for name in names}
        began, cpu_began_s = time.perf_counter(), time.process_time()
        warehouse.query(sql, given)
        seconds.append(time.perf_counter() - began)
        cpu_s.append(time.process_time() - cpu_began_s)
    return Times(seconds[1:], statistics.median(cpu_s[1:]))


def _head(warehouse: Warehouse, times: int) -> str:
    counted = ("trials", "trial_exchanges", "trial_intervals", "trial_observations", "configurations")
    counts = ", ".join(
        f"{warehouse.query(f'select count(*) as n from {name}')['n'][0].as_py():,} {name}"  # noqa: S608 -- ours
        for name in counted
    )
    return (
        f"A warehouse of {counts}; n = {times} each, warm; DuckDB with {LIMITS['threads']} threads and "
        f"{LIMITS['memory_limit']}, as in the dashboard; {machine()}. "
        "Milliseconds."
    )


def _dashboard(asked: Mapping[str, Times]) -> str:
    slowest = sorted(asked.items(), key=lambda each: -each[1].p95_ms)
    within = sum(times.p95_ms < GOAL_MS for times in asked.values())
    rows = [
        [f"`{name}`", f"{times.p50_ms:.1f}", f"{times.p95_ms:.1f}", f"{1000 * times.cpu_s:.1f}"]
        for name, times in slowest
    ]
    title = f"## The dashboard's questions: p95 below {GOAL_MS:.0f} ms of {within} in {len(asked)}\n"
    return f"{title}\n{table(['question', 'p50', 'p95', 'CPU, median'], rows)}"


if __name__ == "__main__":
    main()
