"""Build times of the models on Spark with one and with two executors, and on DuckDB, for lakes of growing size.

`python -m benchmarks.spark LAKE...` writes benchmarks/results/spark.md; the lakes are those of benchmarks.trees, and
Spark is installed in `.venv-spark`. Every build runs in its own process; the time is the one that dbt reports for the
models, without the start of dbt and of the executors. The builds take turns, so that other load on the machine affects
all of them, and the fastest round counts.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pyarrow.dataset as ds

from benchmarks.plots import publish, table

ROOT = Path(__file__).parents[1]
SPARK_PYTHON = os.environ.get("DROPLINE_SPARK_PYTHON", str(ROOT / ".venv-spark/bin/python"))
SHOWN = 6  # models
MEMORY_MB = 2048


class Engine(NamedTuple):
    """The engine of a build: its display name, the dbt command, and variables of profiles.yml."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str]


def executors(count: int) -> Engine:
    """Return Spark with `count` executor processes of one core each."""
    name = f"Spark, {count} executor{'s' if count > 1 else ''}"
    return Engine(
        name,
        (SPARK_PYTHON, str(ROOT / "spark.py")),
        {"DROPLINE_SPARK_MASTER": f"local-cluster[{count},1,{MEMORY_MB}]", "DROPLINE_SPARK_MEMORY": f"{MEMORY_MB}m"},
    )


DUCKDB = Engine("DuckDB", (sys.executable, "-m", "dbt.cli.main"), {})
ENGINES = (DUCKDB, executors(1), executors(2))


def main() -> None:
    """Measure, print the tables, and write them to benchmarks/results/spark.md."""
    read = argparse.ArgumentParser(prog="python -m benchmarks.spark", description="Measure the models on Spark.")
    read.add_argument("lakes", type=Path, nargs="+", help="lakes as a build lays them out: HOME/build/lake")
    read.add_argument("--rounds", type=int, default=2)
    given = read.parse_args()
    tables = [measured(lake.resolve(), given.rounds) for lake in given.lakes]
    head = (
        f"The fastest of the builds of each, {given.rounds} in all; {os.cpu_count()} CPUs shared by the driver and the "
        f"executors, with an average load of {os.getloadavg()[-1]:.0f}; an executor is a process with one core and "
        f"{MEMORY_MB} MiB."
    )
    publish("spark", "\n\n".join([head, *tables]) + "\n")


def measured(lake: Path, rounds: int) -> str:
    """Return the title and the table of one lake."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for engine in ENGINES:
            seconds = build(engine, lake)
            known = best.setdefault(engine.name, seconds)
            best[engine.name] = min(known, seconds, key=lambda models: sum(models.values()))
    trials = ds.dataset(sorted(lake.glob("trials/*.parquet"))).count_rows()
    return _table(f"## {trials:,} trials", best)


def build(engine: Engine, lake: Path) -> dict[str, float]:
    """Build all seeds and models of a lake from scratch; return the seconds of each.

    Raises subprocess.CalledProcessError if a model fails; dbt's output is printed.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = {
            "DROPLINE_LAKE": str(lake),
            "DROPLINE_QUALITY": str(_unchecked(folder)),
            "DROPLINE_BUILD": str(folder / "warehouse.duckdb"),
            "DROPLINE_SCRATCH": str(folder / "scratch.duckdb"),
            "DROPLINE_SPARK_WAREHOUSE": str(folder),
            "DBT_PROJECT_DIR": str(ROOT),
            "DBT_PROFILES_DIR": str(ROOT),
        }
        command = [*engine.command, "build", "--exclude-resource-type", "test", "unit_test", "--quiet"]
        subprocess.run(
            [*command, "--target-path", folder / "target", "--log-path", folder / "logs"],
            env={**os.environ, **places, **engine.environment},
            cwd=folder,
            check=True,
        )
        results = json.loads((folder / "target/run_results.json").read_text("utf-8"))["results"]
    return {result["unique_id"].rsplit(".")[-1]: result["execution_time"] for result in results}


def _unchecked(folder: Path) -> Path:
    """Return an empty folder of gate findings."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    findings = folder / "quality" / "findings" / "lake-none.parquet"
    findings.parent.mkdir(parents=True)
    names = ("finding", "severity", "campaign", "source_path", "trial_id", "detail", "batch")
    pq.write_table(pa.schema([(name, pa.string()) for name in names]).empty_table(), findings)
    return findings.parents[1]


def _table(title: str, best: dict[str, dict[str, float]]) -> str:
    totals = {engine: sum(models.values()) for engine, models in best.items()}
    slowest = sorted(best[ENGINES[1].name], key=best[ENGINES[1].name].__getitem__, reverse=True)[:SHOWN]
    one, two = (totals[engine.name] for engine in ENGINES[1:])
    rows = [["all seeds and models", *(f"{total:.1f}" for total in totals.values()), f"{one / two:.2f} x"]]
    for name in slowest:
        one, two = (best[engine.name][name] for engine in ENGINES[1:])
        rows.append([name, *(f"{models[name]:.1f}" for models in best.values()), f"{one / two:.2f} x"])
    return f"{title}\n\n{table(['what, s', *best, '1 -> 2'], rows)}"


if __name__ == "__main__":
    main()
