"""What dbt compiled, executed without dbt: the same warehouse, the same tests, and only while nothing has changed."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from dropline import compiled, transform
from dropline.expectations.gate import check_lake
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from tests.lakes import rewritten

ROOT = Path(__file__).parents[2]
DESCRIBED = (
    "select table_name, column_name, data_type, is_nullable, comment from duckdb_columns() "
    "where database_name = '{}' and schema_name = 'main' order by all",
    "select table_name, comment from duckdb_tables() where database_name = '{}' order by all",
    "select view_name, comment, sql from duckdb_views() where database_name = '{}' and not internal order by all",
    "select table_name, constraint_text from duckdb_constraints() where database_name = '{}' order by all",
    "select function_name, parameters, macro_definition from duckdb_functions() "
    "where database_name = '{}' and not internal order by all",
)


def places(folder, lake):
    (folder / "work").mkdir(parents=True, exist_ok=True)
    return transform.Places(
        lake, folder / "quality", folder / "next.duckdb", folder / "scratch.duckdb", folder / "work"
    )


def digest(project, where):
    with transform._environment(where.environment()), compiled._opened(project, where) as connection:
        return compiled._digest(connection, project, where)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """The lake of all examples and captures, laid out for the models, and what the gate found beside it."""
    folder = tmp_path_factory.mktemp("lake")
    held = Lake.create(folder / "held")
    ingest([ROOT / "examples", ROOT / "tests/captures"], held)
    laid_out = held.lay_out(folder / "lake").root
    check_lake(laid_out, folder / "quality")
    return laid_out


@pytest.fixture
def project(tmp_path):
    """A dbt project of one model over a file, which a test may change, with a data test."""
    root = tmp_path / "project"
    (root / "models").mkdir(parents=True)
    shutil.copy(ROOT / "profiles.yml", root)
    (root / "dbt_project.yml").write_text("{name: small, profile: dropline, version: 1.0.0}")
    (root / "names.csv").write_text("name\nisc\n")
    (root / "models/thing.sql").write_text(f"select name from read_csv('{root}/names.csv', nullstr = '')")
    (root / "models/thing.yml").write_text(
        "models: [{name: thing, description: It is, columns: [{name: name, data_tests: [not_null]}]}]"
    )
    return root


@pytest.fixture
def dbt_runs(monkeypatch):
    """The projects for which dbt itself was started."""
    runs = []
    run_dbt = transform._run_dbt

    def noted(project, *arguments):
        runs.append(project)
        return run_dbt(project, *arguments)

    monkeypatch.setattr(transform, "_run_dbt", noted)
    return runs


def test_the_compiled_models_make_what_dbt_makes(lake, tmp_path, monkeypatch, dbt_runs):
    played, by_dbt = (
        places(tmp_path / way, lake)._replace(quality=lake.parent / "quality") for way in ("played", "by_dbt")
    )
    assert transform.run(ROOT, played, shown_rows=3) == []
    assert dbt_runs == []
    monkeypatch.setattr(compiled, "play", lambda *_: False)
    assert transform.run(ROOT, by_dbt, shown_rows=3) == []
    with duckdb.connect() as connection:
        connection.execute(f"attach '{played.database}' as played (read_only)")
        connection.execute(f"attach '{by_dbt.database}' as by_dbt (read_only)")
        for query in DESCRIBED:
            found, expected = (connection.execute(query.format(way)).fetchall() for way in ("played", "by_dbt"))
            assert found == expected
            assert found
        tables = connection.execute("select table_name from duckdb_tables() where database_name = 'by_dbt'").fetchall()
        assert len(tables) > 20
        for (table,) in tables:
            found, expected = (
                Counter(map(repr, connection.table(f"{way}.main.{table}").fetchall())) for way in ("played", "by_dbt")
            )
            assert found == expected, table
    recorded, shipped = (json.loads((place / compiled.NAME).read_bytes()) for place in (by_dbt.work, ROOT))
    for each in (recorded, shipped):
        each["nodes"].sort()  # which of two models dbt makes first is up to its threads
    assert recorded == shipped


def test_what_is_shipped_is_of_these_models(lake, tmp_path):
    shipped = json.loads((ROOT / compiled.NAME).read_bytes())["digest"]
    assert shipped == digest(ROOT, places(tmp_path, lake)), "models were changed: make compiled"


def test_a_build_without_new_results_imports_neither_dbt_nor_great_expectations(warehouse_home, tmp_path):
    shutil.copytree(warehouse_home, tmp_path / "home", symlinks=True)
    program = (
        "import sys; from dropline import pipeline; from dropline.paths import Home;"
        "pipeline.build(Home.chosen(sys.argv[1])); print({'dbt', 'great_expectations'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "home"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


def test_dbt_runs_once_for_a_project_and_again_when_a_model_changes(project, lake, tmp_path, dbt_runs):
    where = places(tmp_path / "first", lake)
    for _ in range(2):
        assert transform.run(project, where, shown_rows=3) == []
        with duckdb.connect(str(where.database), read_only=True) as made:
            assert made.execute("select name from thing").fetchall() == [("isc",)]
        assert len(dbt_runs) == 1
        where.database.unlink()
    (project / "models/thing.sql").write_text("select 'kea' as name")
    assert transform.run(project, where, shown_rows=3) == []
    with duckdb.connect(str(where.database), read_only=True) as made:
        assert made.execute("select name from thing").fetchall() == [("kea",)]
    assert len(dbt_runs) == 2


def test_a_test_that_fails_later_stops_the_build_and_dbt_tells_why(project, lake, tmp_path, dbt_runs):
    where = places(tmp_path / "first", lake)
    assert transform.run(project, where, shown_rows=3) == []
    (project / "names.csv").write_text("name,more\nisc,1\n,2\n")
    [failure] = transform.run(project, where, shown_rows=3)
    assert failure.startswith("test not_null_thing_name ")
    assert "name=None" in failure
    assert len(dbt_runs) == 2


@pytest.mark.parametrize(
    "changed",
    [
        *("models/marts/capacity.sql", "models/marts/capacity.yml", "models/columns.md", "macros/keys.sql"),
        *("models/intermediate/int_trends.py", "seeds/loss_goals.csv", "dbt_project.yml", "profiles.yml"),
        "tests/dbt/generic/added.sql",
    ],
)
def test_whatever_changes_in_the_project_another_digest_is_asked_for(changed, lake, tmp_path):
    copy = tmp_path / "project"
    copy.mkdir()
    for name in compiled._DECIDES:
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, copy / name)
    before = digest(copy, places(tmp_path, lake))
    assert before == digest(ROOT, places(tmp_path, lake))
    with (copy / changed).open("a") as file:
        file.write("\n")
    assert digest(copy, places(tmp_path, lake)) != before


def test_a_lake_with_a_column_of_another_type_is_for_dbt(batch, tmp_path):
    batch().trial("t1").commit(tmp_path / "lake")
    lake = Lake(tmp_path / "lake")
    before = digest(ROOT, places(tmp_path, lake.lay_out(tmp_path / "before").root))
    rewritten(lake, "trials", lambda rows: rows.set_column(0, rows.schema.names[0], rows[0].cast("large_binary")))
    assert digest(ROOT, places(tmp_path, lake.lay_out(tmp_path / "after").root)) != before
