"""The gate before the lake: which rows it refuses, which it lets pass, and what it remembers."""

import json
import random
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from dropline.expectations import gate
from dropline.expectations.gate import check_lake
from dropline.expectations.suite import LAKE, Suite, sql
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.ingest.parquet import sha256_of
from dropline.ingest.schema import TABLES
from dropline.ingest.verification import batch_of
from tests.lakes import rewritten

CAPTURES = Path(__file__).parents[1] / "captures" / "perfdhcp"


def lines(*counts):
    before = [(0, 0), *counts]
    return [
        {"position": position, "exchange": "DISCOVER-OFFER", "sent": sent, "received": received}
        | {"interval_sent": sent - before[position][0], "interval_received": received - before[position][1]}
        for position, (sent, received) in enumerate(counts)
    ]


def changes(said):
    """Return the changes to a trial as they are said in trials.yml."""
    said = {table: lines(*row) if table == "lines" else dict(row) for table, row in said.items()}
    for row in (row for table, row in said.items() if table != "lines"):
        row |= {column: LATER[value] for column, value in row.items() if value in LATER}
    return said


TRIALS = yaml.safe_load(Path(__file__).with_name("trials.yml").read_text("utf-8"))
BROKEN, ALSO, HARMLESS = TRIALS["broken"], TRIALS["also"], TRIALS["harmless"]
TWICE = ("trial_id_repeated", "file_repeated")
LATER = {
    "later": datetime.now(UTC) + timedelta(days=3),
    "later + 3 s": datetime.now(UTC) + timedelta(days=3, seconds=3),
}


@pytest.fixture(scope="module")
def findings_of(batch, tmp_path_factory):
    """The findings of every broken and every harmless trial, all in one batch."""
    root = tmp_path_factory.mktemp("gate")
    rows = batch()
    for name, said in {**BROKEN, **HARMLESS}.items():
        rows.trial(name, changes(said))
    for name in TWICE:
        rows.trial(name)
    rows.rows["trials"].append({**rows.rows["trials"][-2], "source_path": "file_repeated.txt"})
    rows.file("file_repeated.txt", {"trials": 2})
    rows.commit(root / "lake")
    found = {}
    for finding in check_lake(root / "lake", root / "quality"):
        name = (finding.trial_id or finding.source_path).removesuffix(".txt")
        found.setdefault(name, set()).add(finding.finding)
    return found


def test_every_expectation_of_the_lake_has_a_row_that_breaks_it():
    assert {*BROKEN, *TWICE} == {code for suite in LAKE for code in suite.expectations}


@pytest.mark.parametrize("finding", BROKEN)
def test_a_row_built_to_break_an_expectation_breaks_it_and_no_other(findings_of, finding):
    assert findings_of[finding] == {finding, *ALSO.get(finding, ())}


@pytest.mark.parametrize("finding", TWICE)
def test_a_trial_or_file_that_stands_twice_in_a_batch_is_found(findings_of, finding):
    assert finding in findings_of[finding]


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_odd_but_possible_passes(findings_of, name):
    assert name not in findings_of


def test_the_examples_give_no_warning(warehouse_home, tmp_path):
    shutil.copytree(warehouse_home / "quality", tmp_path / "quality")
    found = check_lake(warehouse_home / "lake", tmp_path / "quality")
    assert {(each.finding, each.severity) for each in found} == {("loss_in_flight", "info")}


@pytest.mark.parametrize(
    ("position", "printed"),
    [(0, "%.6g"), (1, "%.3f"), (1, "%.3g"), (0, "%.3f"), (1, "%.6f")],
    ids=["first exchange", "further exchange up to Kea 2.x", "further exchange since Kea 3.0", "rounded", "finer"],
)
def test_every_ratio_that_perfdhcp_or_a_script_can_print_passes(position, printed):
    chosen = random.Random(2544)
    sizes = [10 ** chosen.randint(0, 8) for _ in range(5000)]
    counts = [(chosen.randint(0, size), size + chosen.randint(0, size)) for size in sizes]
    rows = [
        {"trial_id": "t", "batch": "b", "position": position, "drops": drops, "sent": sent}
        | {"drop_ratio_printed": printed % (100 * drops / sent)}
        for drops, sent in counts
    ]
    relations = {"trials": [{"trial_id": "t", "batch": "b", "tool": "perfdhcp"}], "exchanges": rows, "intervals": []}
    with duckdb.connect() as connection:
        for name, content in relations.items():
            columns = TABLES[name].names
            plain = pa.schema([field.with_nullable(True) for field in TABLES[name]])
            filled = {key: [row.get(key) for row in content] for key in columns}
            connection.register(name, pa.table(filled, schema=plain))
        query = sql("lake/exchanges")
        checked = f"select count(ratio_off), count(*) filter (where ratio_off > half_a_digit) from ({query})"
        assert connection.execute(checked).fetchall() == [(5000, 0)]


def test_what_perfdhcp_really_prints_in_odd_modes_never_stops_the_build(tmp_path):
    ingest([CAPTURES / "odd"], Lake.create(tmp_path / "lake"))
    found = check_lake(tmp_path / "lake", tmp_path / "quality")
    assert [finding for finding in found if finding.severity == "critical"] == []


def test_a_finding_names_the_numbers_and_where_they_come_from(batch, home):
    name = batch().trial("t1", {"second": {"received": 2220, "drops": 0}}).commit(home.lake)
    found = check_lake(home.lake, home.quality)
    one = next(f for f in found if f.finding == "received_exceeds_sent")
    assert (one.severity, one.batch, one.campaign) == ("critical", name, "by-hand")
    assert (one.source_path, one.trial_id) == ("t1.txt", "t1")
    assert one.detail == "REQUEST-ACK: received 2220 answers to 2219 packets sent"


def test_the_findings_files_hold_what_the_models_read(batch, home):
    name = batch().trial("t1", {"trial": {"threads": 0}}).commit(home.lake)
    check_lake(home.lake, home.quality)
    folder = home.quality / "findings"
    files = {batch_of(file): file for file in folder.iterdir()}
    assert files.keys() == {"00000000-empty", name}
    assert {batch: file.name.split(".")[1] for batch, file in files.items()} == {
        b: sha256_of(f) for b, f in files.items()
    }
    rows = pq.read_table(files[name]).to_pylist()
    detail = "the server is said to have 0 threads"
    keys = {"batch": name, "campaign": "by-hand", "source_path": "t1.txt", "trial_id": "t1"}
    assert rows == [{"finding": "threads_below_one", "severity": "warning", **keys, "detail": detail}]


def test_the_newest_version_of_a_file_is_judged_by_itself(batch, home):
    batch().trial("t1", {"trial": {"malformed": -1}}).trial("t2").commit(home.lake)
    assert [f.trial_id for f in check_lake(home.lake, home.quality)] == ["t1"]
    batch().trial("t1").commit(home.lake)
    assert check_lake(home.lake, home.quality) == []
    newest = batch().trial("t1", {"second": {"stdev_delay_ms": 14.0}}).commit(home.lake)
    found = check_lake(home.lake, home.quality)
    assert [(each.finding, each.batch) for each in found] == [("stdev_exceeds_half_range", newest)]


def test_a_batch_is_checked_once_and_again_when_the_suites_change(batch, home, monkeypatch):
    batch().trial("t1").commit(home.lake)
    told = []
    check_lake(home.lake, home.quality, progress=told.append)
    assert told == [f"checking {suite.name}" for suite in LAKE]
    told.clear()
    check_lake(home.lake, home.quality, progress=told.append)
    assert told == []
    first = LAKE[0]
    fewer = (Suite(first.name, first.query, dict([*first.expectations.items()][1:])), *LAKE[1:])
    monkeypatch.setattr(gate, "LAKE", fewer)
    check_lake(home.lake, home.quality, progress=told.append)
    assert told == [f"checking {suite.name}" for suite in fewer]


def test_a_torn_findings_file_is_written_again(batch, home):
    name = batch().trial("t1", {"trial": {"threads": 0}}).commit(home.lake)
    before = check_lake(home.lake, home.quality)
    (file,) = (home.quality / "findings").glob(f"lake-{name}.*")
    file.write_bytes(file.read_bytes()[:100])
    assert check_lake(home.lake, home.quality) == before


def test_a_batch_that_is_gone_takes_its_findings_along(batch, home):
    batch().trial("t1", {"trial": {"threads": 0}}).commit(home.lake)
    check_lake(home.lake, home.quality)
    (home.lake / "log" / "00000001.json").unlink()
    assert check_lake(home.lake, home.quality) == []
    assert [batch_of(file) for file in (home.quality / "findings").iterdir()] == ["00000000-empty"]


def test_gate_json_counts_expectations_by_suite(batch, home):
    rows = batch().trial("t1", {"trial": {"threads": 0}}).trial("t2", {"trial": {"threads": 0}})
    rows.trial("t3", {"trial": {"malformed": -1}}).commit(home.lake)
    check_lake(home.lake, home.quality)
    results = json.loads((home.quality / "gate.json").read_text())["lake"]["suites"]
    assert [one["suite"] for one in results] == [suite.name for suite in LAKE]
    trials = results[0]
    assert trials["expectations"] == trials["successes"] + trials["failures"]
    assert trials["findings"] == {"negative_count": 1, "threads_below_one": 2}
    assert trials["severity"] == "critical"
    assert {one["failures"] for one in results[1:]} == {0}


def test_a_batch_that_lacks_columns_of_today_is_checked_by_what_it_has(batch, home):
    batch().trial("t1", {"trial": {"threads": 0}}).commit(home.lake)
    rewritten(Lake(home.lake), "trials", lambda rows: rows.drop_columns(["wait_s", "threading"]))
    assert [each.finding for each in check_lake(home.lake, home.quality)] == ["threads_below_one"]
