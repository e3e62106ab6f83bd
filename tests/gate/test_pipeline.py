"""The build as a whole: what is published, what stops it, and what readers of the old file see."""

import hashlib
import os
import shutil
import threading
import time
from pathlib import Path

import duckdb
import pytest

from dropline import pipeline
from dropline.errors import DroplineError
from dropline.expectations.suite import Finding
from dropline.ingest.lake import Lake

PROJECT = Path(pipeline.__file__).parent


def state_of(file):
    return file.stat().st_ino, hashlib.sha256(file.read_bytes()).hexdigest()


def rows_of(file, query):
    with duckdb.connect(str(file), read_only=True) as connection:
        return connection.execute(query).fetchall()


def test_a_home_without_a_lake_gets_the_published_figures(published_home):
    warehouse = published_home / "warehouse.duckdb"
    assert rows_of(warehouse, "select count(*) > 100 from capacity where rate is not null") == [(True,)]
    assert rows_of(warehouse, "select count(*) from trials") == [(0,)]


def test_the_file_says_when_and_from_what_it_was_built(published_home):
    warehouse = published_home / "warehouse.duckdb"
    [(age, dbt, duck, batches)] = rows_of(
        warehouse,
        "select now() at time zone 'UTC' - built_at < interval 1 hour, dbt_version, duckdb_version, lake_batches "
        "from build_info",
    )
    assert age
    assert (dbt, duck, batches) == ("1.11.16", duckdb.__version__, [])


def test_a_build_leaves_nothing_but_the_warehouse_and_what_speeds_up_the_next(published_home):
    left = {file.name for file in (published_home / "build").iterdir()}
    assert left <= {"target", "logs", "lake", "compiled.json"}
    assert not list(published_home.rglob("*.wal"))
    assert not list(PROJECT.glob("warehouse.duckdb*"))


def test_a_critical_finding_stops_the_build_names_the_rows_and_changes_nothing(built_home, batch):
    before = state_of(built_home.warehouse)
    rows = batch().trial("sound")
    for n in range(12):
        rows.trial(f"bad{n:02}", {"second": {"received": 2300 + n, "drops": 0}})
    rows.commit(built_home.lake)
    with pytest.raises(DroplineError) as failure:
        pipeline.build(built_home)
    message = str(failure.value)
    assert "received_exceeds_sent: 12 rows of the lake fail." in message
    assert (
        "    trial bad00, file bad00.txt, campaign by-hand: "
        "REQUEST-ACK: received 2300 answers to 2219 packets sent\n" in message
    )
    assert "bad09" in message and "bad10" not in message and "    and 2 more" in message
    assert "sound" not in message
    assert f"The old warehouse stays as it is: {built_home.warehouse}" in message
    assert state_of(built_home.warehouse) == before


def test_repair_then_build_publishes_and_readers_of_the_old_file_keep_it(built_home, batch):
    batch().trial("t1", {"trial": {"malformed": -1}}).commit(built_home.lake)
    with pytest.raises(DroplineError, match="The gate stopped the build"):
        pipeline.build(built_home)
    trials = "select count(*) from trials"
    reader = duckdb.connect(str(built_home.warehouse), read_only=True)
    before = reader.execute(trials).fetchone()[0]

    warned = {"trial": {"threads": 0}}
    batch().trial("t1", warned).trial("t2").commit(built_home.lake)
    report = pipeline.build(built_home)

    assert reader.execute(trials).fetchone()[0] == before
    reader.close()
    assert report.tables["trials"] == before + 2
    found = "select trial_id, detail from quality_findings where finding = 'threads_below_one'"
    assert ("t1", "the server is said to have 0 threads") in rows_of(report.warehouse, found)
    assert "t2" not in {trial for trial, _ in rows_of(report.warehouse, found)}
    by_severity = """select severity, count(*) from quality_findings left join configurations using (configuration_id)
        where subject <> 'figure' and configurations.origin is distinct from 'published' group by all"""
    assert report.findings == dict(rows_of(report.warehouse, by_severity))
    assert list(report.seconds) == ["checksums", "lake gate", "models", "marts gate", "publish"]


def test_a_warning_of_the_marts_gate_marks_the_capacity_that_is_published(built_home, monkeypatch):
    [(chosen,)] = rows_of(
        built_home.warehouse,
        "select configuration_id from leases_per_second where origin = 'measured' order by quality, 1 limit 1",
    )
    who = {"batch": None, "campaign": None, "source_path": None, "trial_id": None}
    found = [Finding("odd", "warning", **who, detail="odd", configuration_id=chosen)]
    monkeypatch.setattr(pipeline, "check_marts", lambda *_, **__: found)
    pipeline.build(built_home)
    for table in ("capacity", "leases_per_second"):
        marks = f"select distinct quality in ('warn', 'suspect'), list_contains(findings, 'odd') from {table}"
        assert rows_of(built_home.warehouse, f"{marks} where configuration_id = '{chosen}'") == [(True, True)]
    in_findings = f"select count(*) from quality_findings where finding = 'odd' and configuration_id = '{chosen}'"
    assert rows_of(built_home.warehouse, in_findings) == [(1,)]


def test_two_builds_at_once_run_one_after_the_other(home, monkeypatch):
    running = []
    overlaps = []
    said = []

    def slow(*_, **__):
        running.append(1)
        overlaps.append(len(running))
        time.sleep(0.2)
        running.pop()

    monkeypatch.setattr(pipeline, "_build", slow)
    builds = [threading.Thread(target=pipeline.build, args=[home], kwargs={"progress": said.append}) for _ in range(2)]
    for build in builds:
        build.start()
    for build in builds:
        build.join()
    assert overlaps == [1, 1]
    assert said == ["waiting for another build to end"]


@pytest.fixture
def small_project(tmp_path, monkeypatch):
    """A dbt project of one model, in the place of ours; returns the folder of its models."""
    root = tmp_path / "project"
    root.mkdir()
    for name in ("profiles.yml", "pyproject.toml"):
        shutil.copy(PROJECT / name, root)
    (root / "dbt_project.yml").write_text("{name: small, profile: dropline, version: 1.0.0}")
    (root / "models" / "marts").mkdir(parents=True)
    monkeypatch.setattr(pipeline, "PROJECT", root)
    return root / "models" / "marts"


def test_a_broken_model_stops_the_build_and_changes_nothing(small_project, built_home):
    before = state_of(built_home.warehouse)
    (small_project / "thing.sql").write_text("select * from nowhere")
    with pytest.raises(DroplineError) as failure:
        pipeline.build(built_home)
    message = str(failure.value)
    assert "model thing (models/marts/thing.sql)" in message
    assert "nowhere does not exist" in message
    assert f"The old warehouse stays as it is: {built_home.warehouse}" in message
    assert state_of(built_home.warehouse) == before


def test_a_failed_test_shows_the_rows_that_it_found(small_project, built_home):
    before = state_of(built_home.warehouse)
    (small_project / "thing.sql").write_text("select unnest(range(1, 15)) as n, null as name")
    (small_project / "thing.yml").write_text("models: [{name: thing, columns: [{name: name, data_tests: [not_null]}]}]")
    with pytest.raises(DroplineError, match=r"test not_null_thing_name \(models/marts/thing\.yml\)") as failure:
        pipeline.build(built_home)
    assert str(failure.value).count("    name=None") == pipeline.SHOWN_ROWS
    assert state_of(built_home.warehouse) == before


def test_a_project_that_cannot_be_parsed_says_so(small_project, home):
    (small_project / "thing.sql").write_text("select * from {{ ref('nobody') }}")
    with pytest.raises(DroplineError, match=r"(?s)nobody.*There is no warehouse yet\."):
        pipeline.build(home)


def test_an_unreadable_batch_stops_the_build_and_changes_nothing(built_home, batch):
    before = state_of(built_home.warehouse)
    batch().trial("t1").commit(built_home.lake)
    Lake(built_home.lake).files("trials")[-1].write_bytes(b"PAR1 torn")
    with pytest.raises(DroplineError, match=r"trials\.parquet"):
        pipeline.build(built_home)
    assert state_of(built_home.warehouse) == before


def test_a_killed_build_leaves_nothing_that_the_next_one_trips_over(built_home):
    left = built_home.root / "build"
    for name in ("next.duckdb", "next.duckdb.wal", "scratch.duckdb"):
        (left / name).write_bytes(b"half")
    pipeline._places(built_home).clear()
    assert {file.name for file in left.iterdir()} <= {"target", "logs", "lake", "compiled.json"}


def test_the_environment_is_as_it_was_after_a_build(small_project, home, monkeypatch):
    monkeypatch.setenv("DROPLINE_LAKE", "elsewhere")
    monkeypatch.delenv("DROPLINE_BUILD", raising=False)
    before = dict(os.environ) | {"GX_ANALYTICS_ENABLED": "false"}
    (small_project / "thing.sql").write_text("select 1 as n")
    with pytest.raises(DroplineError, match="Table with name trials"):  # the gate finds no marts
        pipeline.build(home)
    assert dict(os.environ) | {"GX_ANALYTICS_ENABLED": "false"} == before


def test_check_looks_at_the_lake_and_the_published_file_and_builds_nothing(built_home, batch):
    before = state_of(built_home.warehouse)
    assert pipeline.check(built_home).passed
    batch().trial("t1", {"trial": {"malformed": -1}}).commit(built_home.lake)
    report = pipeline.check(built_home)
    assert not report.passed
    assert [finding.finding for finding in report.lake if finding.severity == "critical"] == ["negative_count"]
    assert report.marts == ()
    assert state_of(built_home.warehouse) == before
    said = report.text()
    assert "negative_count: 1 rows of the lake fail. Packets are counted from zero.\n    trial t1, file t1.txt" in said
    assert said.splitlines()[-1] == f"The checks fail: {len(report.lake)} findings."


def test_check_of_a_home_without_a_warehouse_looks_at_the_lake_only(home):
    report = pipeline.check(home)
    assert (report.lake, report.marts, report.passed) == ((), None, True)
