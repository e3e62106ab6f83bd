"""A warning about a mart changes the mark of every figure that it concerns, and of no other."""

import re
import shutil

import duckdb
import pytest

from dropline.expectations.gate import mark
from dropline.expectations.suite import Finding, sql

NOBODY = {"batch": None, "campaign": "kea-2.2-ha", "source_path": None, "trial_id": None}
MARKS = "select configuration_id, loss_goal, quality, findings from capacity order by all"
MARKED = set(re.findall(r"^update (\w+)", sql("marks"), re.MULTILINE))
OK_AT_ISC = """
    select configuration_id from capacity
    where quality = 'ok' and origin = 'measured' and loss_goal = 'isc' order by configuration_id limit 1
"""


@pytest.fixture
def warehouse(warehouse_home, tmp_path):
    """A copy of a sound warehouse, in which no capacity is marked, open for writing."""
    shutil.copy(warehouse_home / "warehouse.duckdb", tmp_path)
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as connection:
        for table in MARKED:
            connection.execute(f"update {table} set quality = 'ok' where quality = 'warn'")
        yield connection


def one(connection, query, *parameters):
    [(value,)] = connection.execute(query, parameters).fetchall()
    return value


def configuration(connection):
    return one(connection, OK_AT_ISC)


def warning(configuration_id, **words):
    return Finding(
        "odd", **{"severity": "warning", **NOBODY, "detail": "", "configuration_id": configuration_id, **words}
    )


def test_every_table_with_a_quality_is_marked(warehouse):
    rows = warehouse.execute(
        "select table_name from duckdb_columns() inner join duckdb_tables() using (table_name) "
        "where column_name = 'quality'"
    ).fetchall()
    assert {name for (name,) in rows} == MARKED


def test_a_warning_about_a_configuration_marks_all_of_its_capacities_and_no_other(warehouse):
    chosen = configuration(warehouse)
    before = warehouse.execute(MARKS).fetchall()
    mark(warehouse, [warning(chosen, detail="nothing at isc")])
    found = "select severity, subject, subject_id, detail, length(finding_id) from quality_findings where finding = ?"
    assert warehouse.execute(found, ["odd"]).fetchall() == [("warning", "configuration", chosen, "nothing at isc", 32)]
    for was, now in zip(before, warehouse.execute(MARKS).fetchall(), strict=True):
        if was[0] == chosen:
            assert now == (*was[:2], "suspect" if was[2] == "suspect" else "warn", sorted({*was[3], "odd"}))
        else:
            assert now == was


def test_a_warning_about_one_loss_goal_leaves_the_others(warehouse):
    chosen = configuration(warehouse)
    mark(warehouse, [warning(chosen, loss_goal="ndr")])
    rows = "select loss_goal from capacity where configuration_id = ? and list_contains(findings, 'odd')"
    assert warehouse.execute(rows, [chosen]).fetchall() == [("ndr",)]


def test_an_info_is_shown_but_marks_nothing(warehouse):
    chosen = configuration(warehouse)
    mark(warehouse, [warning(chosen, severity="info")])
    shown = "select quality, list_contains(findings, 'odd') from leases_per_second where configuration_id = ?"
    assert warehouse.execute(shown, [chosen]).fetchall() == [("ok", True)]


def test_a_suspect_figure_stays_suspect(warehouse):
    chosen = configuration(warehouse)
    warehouse.execute("update capacity set quality = 'suspect' where configuration_id = ?", [chosen])
    mark(warehouse, [warning(chosen)])
    assert one(warehouse, "select distinct quality from capacity where configuration_id = ?", chosen) == "suspect"


def test_the_tables_made_from_capacity_agree_with_it(warehouse):
    pairs = {
        "multithreading_speedup": ("configuration_id_single", "configuration_id_multi", "'isc'"),
        "ha_speedup": ("configuration_id_without_ha", "configuration_id_with_ha", "'isc'"),
        "backend_ratio": ("configuration_id_reference", "configuration_id_backend", "pairs.loss_goal"),
        "ip_version_ratio": ("configuration_id_v4", "configuration_id_v6", "pairs.loss_goal"),
    }
    marked = warehouse.execute("select distinct configuration_id from capacity where quality = 'ok'").fetchall()
    mark(warehouse, [warning(chosen) for (chosen,) in marked[::2]])
    assert one(warehouse, "select count(*) from capacity where quality = 'warn'") > 0
    for table, (baseline, treatment, goal) in pairs.items():
        wrong = f"""
            select count(*)
            from {table} as pairs
            inner join capacity as one on pairs.{baseline} = one.configuration_id and one.loss_goal = {goal}
            inner join capacity as other on pairs.{treatment} = other.configuration_id and other.loss_goal = {goal}
            where pairs.quality <> case
                when 'suspect' in (one.quality, other.quality) then 'suspect'
                when 'warn' in (one.quality, other.quality) then 'warn'
                else 'ok'
            end
        """
        assert one(warehouse, wrong) == 0, table
    wrong = """
        select count(*) from leases_per_second as copies
        inner join capacity on copies.configuration_id = capacity.configuration_id and capacity.loss_goal = 'isc'
        where (copies.quality, copies.findings) is distinct from (capacity.quality, capacity.findings)
    """
    assert one(warehouse, wrong) == 0


def test_a_trial_above_the_crossing_says_nothing_about_the_capacity(warehouse):
    trials = """
        select trials.configuration_id, trials.trial_id
        from trials
        inner join run_capacity on trials.run_id = run_capacity.run_id and run_capacity.loss_goal = 'isc'
        where trials.offered_rate {} run_capacity.first_exceeding_rate order by all limit 1
    """
    marked = "select list_contains(findings, ?) from capacity where configuration_id = ? and loss_goal = 'isc'"
    for place, concerns in (("> ", False), ("<=", True)):
        [(chosen, trial_id)] = warehouse.execute(trials.format(place)).fetchall()
        finding = Finding(
            f"odd{place}", "warning", **{**NOBODY, "trial_id": trial_id}, detail="", configuration_id=chosen
        )
        mark(warehouse, [finding])
        assert one(warehouse, marked, finding.finding, chosen) is concerns
        subject = "select subject, subject_id = trial_id, run_id is not null from quality_findings where finding = ?"
        assert warehouse.execute(subject, [finding.finding]).fetchall() == [("trial", True, True)]


def test_nothing_found_changes_nothing(warehouse):
    before = warehouse.execute(MARKS).fetchall()
    mark(warehouse, [])
    assert warehouse.execute(MARKS).fetchall() == before
