"""The dbt project by itself: unit tests, data tests and contracts pass, and a wrong model does not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).parents[2]


def dbt(folder: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "DROPLINE_LAKE": str(home / "build" / "lake"),
        "DROPLINE_QUALITY": str(home / "quality"),
        "DROPLINE_BUILD": str(folder / "warehouse.duckdb"),
        "DROPLINE_SCRATCH": str(folder / "scratch.duckdb"),
    }
    command = [
        *(sys.executable, "-m", "dbt.cli.main", "--no-use-colors", "--no-send-anonymous-usage-stats", *arguments),
        *("--project-dir", str(folder / "project"), "--profiles-dir", str(folder / "project")),
    ]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=300)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a copy of the dbt project that a test may break."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("dbt_project.yml", "profiles.yml"):
        shutil.copy(ROOT / name, folder)
    for name in ("models", "macros", "seeds", "analyses", "tests/dbt"):
        shutil.copytree(ROOT / name, folder / name)
    return tmp_path


def test_models_unit_tests_data_tests_and_contracts_pass(project, warehouse_home):
    done = dbt(project, warehouse_home, "build")
    assert done.returncode == 0, done.stdout[-4000:]
    assert "ERROR=0" in done.stdout


def test_a_wrong_capacity_fails_the_unit_tests(project, warehouse_home):
    model = project / "project/macros/capacity_at.sql"
    right = model.read_text()
    wrong = right.replace("loss_ratio > loss_limit or", "loss_ratio >= loss_limit or")
    assert wrong != right
    model.write_text(wrong)
    done = dbt(project, warehouse_home, "build", "--select", "+int_run_capacity")
    assert done.returncode == 1
    assert "a_ramp_that_never_exceeds_gives_a_lower_bound" in done.stdout


def test_a_row_that_stands_twice_fails_the_data_tests(project, warehouse_home):
    shutil.copy(warehouse_home / "warehouse.duckdb", project / "warehouse.duckdb")
    asked = ("test", "--select", "trial_intervals,test_type:generic")
    assert dbt(project, warehouse_home, *asked).returncode == 0
    with duckdb.connect(str(project / "warehouse.duckdb")) as database:
        database.execute("insert into trial_intervals from trial_intervals limit 1")
    done = dbt(project, warehouse_home, *asked)
    assert done.returncode == 1
    assert "Failure in test unique_together_trial_intervals_trial_id__position__exchange" in done.stdout
