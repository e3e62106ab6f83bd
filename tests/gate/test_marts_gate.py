"""The gate before publishing: what a warehouse must be like, and what breaks it."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest
import yaml

from dropline.expectations.gate import check_marts
from dropline.expectations.suite import MARTS

MEASURED = "select rowid from capacity where origin = 'measured' and rate is not null order by rowid"
RATIOS = "select rowid from ratios where ratio is not null order by rowid"
ONE_CONFIGURATION = "select configuration_id from trials group by configuration_id having count(*) > 9 order by 1"
CHANGES = yaml.safe_load(Path(__file__).with_name("marts.yml").read_text("utf-8"))


def _damage(connection):
    for table, rows, prefix in (("capacity", MEASURED, ""), ("ratios", RATIOS, "ratio_")):
        for n, (finding, change) in enumerate(CHANGES[table].items()):
            connection.execute(f"update {table} set {change} where rowid = ({rows} limit 1 offset {n})")
            yield prefix + finding
    for finding, statement in CHANGES["others"].items():
        connection.execute(statement.format(one=ONE_CONFIGURATION))
        yield finding


def _add_finding_of_the_lake(warehouse, quality):
    """Find something in the lake that quality_findings does not have."""
    with duckdb.connect(str(warehouse)) as connection:
        row = connection.sql(
            "select 'threads_below_one' as finding, 'warning' as severity, "
            "batch, campaign, source_path, trial_id, '0 threads' as detail from trials limit 1"
        )
        row.write_parquet(str(quality / "findings" / "lake-more.parquet"))
    return "findings_missing"


@pytest.fixture(scope="module")
def damaged(warehouse_home, tmp_path_factory):
    """What was broken in a copy of a sound warehouse, and what the gate found there."""
    home = tmp_path_factory.mktemp("damaged")
    shutil.copytree(warehouse_home / "quality", home / "quality")
    shutil.copy(warehouse_home / "warehouse.duckdb", home)
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        broken = list(_damage(connection))
    broken.append(_add_finding_of_the_lake(home / "warehouse.duckdb", home / "quality"))
    found = check_marts(home / "warehouse.duckdb", warehouse_home / "lake", home / "quality")
    gate = json.loads((home / "quality" / "gate.json").read_text())
    return broken, {finding.finding: finding for finding in found}, gate


def test_a_sound_warehouse_passes(warehouse_home, tmp_path):
    shutil.copytree(warehouse_home / "quality", tmp_path / "quality")
    database = warehouse_home / "warehouse.duckdb"
    assert check_marts(database, warehouse_home / "lake", tmp_path / "quality") == []


def test_a_warehouse_of_published_figures_only_passes(published_home, tmp_path):
    shutil.copytree(published_home / "quality", tmp_path / "quality")
    database = published_home / "warehouse.duckdb"
    assert check_marts(database, published_home / "lake", tmp_path / "quality") == []


def test_every_expectation_of_the_marts_is_broken_by_some_damage_and_found(damaged):
    broken, found, _ = damaged
    expected = {code for suite in MARTS for code in suite.expectations}
    assert set(broken) == expected
    assert set(found) == expected


def test_a_finding_names_the_configuration_and_the_numbers(damaged):
    _, found, _ = damaged
    assert found["runs_kept_exceed_runs"].configuration_id
    assert found["runs_kept_exceed_runs"].detail.endswith("runs kept")
    assert found["trials_unknown"].detail == "1 trials are in no current file of the lake: nobody"


def test_a_finding_about_a_trial_names_it_and_what_differs(damaged):
    _, found, _ = damaged
    assert found["kernel_counter_falls"].trial_id
    assert found["kernel_counter_falls"].detail == "udp.InErrors falls from 9 to 2"
    assert "2 descriptions of the machine with different names" in found["machine_changed"].detail
    assert found["report_copied"].detail.startswith("the same bytes are in 2 places, one of them kea-2.2-backends/")


def test_gate_json_holds_the_marts_beside_the_lake(damaged):
    _, _, gate = damaged
    assert set(gate) == {"lake", "marts"}
    assert [one["suite"] for one in gate["marts"]["suites"]] == [s.name for s in MARTS]
    assert all(one["failures"] == one["expectations"] for one in gate["marts"]["suites"])
