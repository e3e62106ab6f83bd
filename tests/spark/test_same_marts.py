"""Spark builds the marts that DuckDB builds, from the same lake: every table, column, row and value.

Spark stands in an environment of its own, `.venv-spark`, and needs Java 17 or newer. Without either these tests are
skipped, but not in CI.
"""

import math
import os
import shutil
import subprocess
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dropline import transform

ROOT = Path(__file__).parents[2]
PYTHON = Path(os.environ.get("DROPLINE_SPARK_PYTHON", ROOT / ".venv-spark/bin/python"))
MARTS = sorted(file.stem for file in ROOT.glob("models/marts/*.sql"))

# dbt's own tests of columns need not run again on rows that are those of DuckDB, where they have passed.
PASSED_ALREADY = [f"test_name:{name}" for name in ("accepted_values", "not_null", "relationships", "unique")]

# For 160 statements over few rows, compiling, validating and describing plans take longer than running; no power fails,
# so the catalogue need not sync.
SPARK = """
spark.sql.adaptive.enabled false
spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
spark.sql.lightweightPlanChangeValidation false
spark.sql.maxPlanStringLength 100
spark.sql.ui.explainMode simple
spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dderby.system.durability=test
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
"""

pytestmark = pytest.mark.skipif(
    not (PYTHON.exists() and (shutil.which("java") or os.environ.get("JAVA_HOME"))) and "CI" not in os.environ,
    reason="no Java 17, or no environment for Spark: `make spark` makes one",
)


@pytest.fixture(scope="module")
def in_duckdb(examples_home, tmp_path_factory):
    """The file that dbt alone makes of the examples; a published one also has the findings of the gate on it."""
    folder = tmp_path_factory.mktemp("duckdb")
    database = folder / "warehouse.duckdb"
    places = transform.Places(
        examples_home / "build" / "lake", examples_home / "quality", database, folder / "scratch.duckdb", folder
    )
    assert transform.run(ROOT, places, shown_rows=3) == []
    return database


@pytest.fixture(scope="module")
def in_spark(examples_home, tmp_path_factory):
    """The folder of the tables that Spark makes of the examples, on two executors; our own data test passes."""
    folder = tmp_path_factory.mktemp("spark")
    (folder / "spark-defaults.conf").write_text(SPARK, "utf-8")
    environment = {
        **os.environ,
        "SPARK_CONF_DIR": str(folder),
        "DROPLINE_LAKE": str(examples_home / "build" / "lake"),
        "DROPLINE_QUALITY": str(examples_home / "quality"),
        "DROPLINE_SPARK_WAREHOUSE": str(folder),
    }
    command = [
        *(PYTHON, ROOT / "spark.py", "build", "--exclude-resource-type", "unit_test", "--no-use-colors"),
        *("--exclude", *PASSED_ALREADY, "--target-path", folder / "target", "--log-path", folder / "logs"),
    ]
    read = sorted(examples_home.rglob("*"))
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert "local-cluster[2,1,1024]: 2 executors" in done.stderr
    assert sorted(examples_home.rglob("*")) == read, "Spark wrote where it should only read"
    return folder / "tables/dropline.db"


def plain(value):
    """A value without what the two engines write differently: the order of a map, the unit of a time."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, list) and value and isinstance(value[0], tuple):  # a map
        return tuple(sorted(value))
    return tuple(value) if isinstance(value, list) else value


def by_the_rest(rows):
    """The fractions of the rows by everything else that the rows say."""
    fractions = [field.name for field in rows.schema if pa.types.is_floating(field.type)]
    found = defaultdict(list)
    for row in rows.to_pylist():
        rest = tuple(plain(value) for name, value in row.items() if name not in fractions)
        found[rest].append(tuple(row[name] for name in fractions))
    return {
        rest: sorted(rows, key=lambda row: [(one is None, one or 0) for one in row]) for rest, rows in found.items()
    }


def alike(one, other):
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))


@pytest.mark.parametrize("mart", MARTS)
def test_a_mart_is_the_same_in_every_row_and_column(in_duckdb, in_spark, mart):
    with duckdb.connect(str(in_duckdb), read_only=True) as connection:
        expected = connection.sql(f"from {mart}").to_arrow_table()
    found = pq.read_table(in_spark / mart)
    assert found.column_names == expected.column_names
    here, there = by_the_rest(expected), by_the_rest(found)
    assert set(there) - set(here) == set(), "only Spark has these"
    assert set(here) - set(there) == set(), "only DuckDB has these"
    for row, fractions in here.items():
        for one, other in zip(fractions, there[row], strict=True):
            assert all(map(alike, one, other)), (row, one, other)
