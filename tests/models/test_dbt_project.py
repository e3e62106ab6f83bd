"""The dbt project by itself: unit tests, data tests and contracts pass, and a wrong model does not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest

ROOT = Path(__file__).parents[2]


class Project(NamedTuple):
    """A copy of the dbt project that a test may break, and what dbt built with it before: it is parsed once."""

    root: Path
    home: Path
    built: subprocess.CompletedProcess[str] | None = None

    def dbt(self, *arguments):
        environment = {
            **os.environ,
            "DROPLINE_LAKE": str(self.home / "build" / "lake"),
            "DROPLINE_QUALITY": str(self.home / "quality"),
            "DROPLINE_BUILD": str(self.root / "warehouse.duckdb"),
            "DROPLINE_SCRATCH": str(self.root / "scratch.duckdb"),
        }
        dbt = (sys.executable, "-m", "dbt.cli.main", "--no-use-colors", "--no-send-anonymous-usage-stats")
        command = [*dbt, *arguments, "--project-dir", str(self.root), "--profiles-dir", str(self.root)]
        return subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=self.root.parent, timeout=300
        )


@pytest.fixture(scope="module")
def project(tmp_path_factory, warehouse_home):
    root = tmp_path_factory.mktemp("project")
    for name in ("dbt_project.yml", "profiles.yml"):
        shutil.copy(ROOT / name, root)
    for name in ("models", "macros", "seeds", "analyses", "tests/dbt"):
        shutil.copytree(ROOT / name, root / name)
    project = Project(root, warehouse_home)
    return project._replace(built=project.dbt("build"))


def test_models_unit_tests_data_tests_and_contracts_pass(project):
    assert project.built.returncode == 0, project.built.stdout[-4000:]
    assert "ERROR=0" in project.built.stdout


def test_a_row_that_stands_twice_fails_the_data_tests(project):
    with duckdb.connect(str(project.root / "warehouse.duckdb")) as database:
        database.execute("insert into trial_intervals from trial_intervals limit 1")
    done = project.dbt("test", "--select", "trial_intervals,test_type:generic")
    assert done.returncode == 1
    assert "Failure in test unique_together_trial_intervals_trial_id__position__exchange" in done.stdout


def test_a_wrong_capacity_fails_the_unit_tests(project):
    macro = project.root / "macros/capacity_at.sql"
    right = macro.read_text()
    wrong = right.replace("loss_ratio > loss_limit or", "loss_ratio >= loss_limit or")
    assert wrong != right
    macro.write_text(wrong)
    done = project.dbt("test", "--select", "int_run_capacity,test_type:unit")
    macro.write_text(right)
    assert done.returncode == 1
    assert "a_ramp_that_never_exceeds_gives_a_lower_bound" in done.stdout
