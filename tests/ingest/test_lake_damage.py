"""What is damaged is found, named, and can be left out; what is whole is not complained of."""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_lake import exchanges, raw_files, trials

from dropline.errors import DroplineError
from dropline.expectations.gate import check_lake
from dropline.ingest.compaction import compact
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.ingest.reparsing import reparse
from dropline.ingest.schema import TABLES
from dropline.ingest.verification import verify
from dropline.paths import Home
from tests.commands import dropline
from tests.lakes import flip, put, rewritten

CONTENT = b"1"
WRITTEN = ("raw_files", "trials", "exchanges")


def kept(**contents):
    """Rows of raw_files with one trial each, whose digests are right."""
    sha256 = {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()}
    rows = raw_files(**sha256)
    return rows.set_column(
        rows.schema.get_field_index("content"), "content", pa.array(list(contents.values()), pa.binary())
    )


@pytest.fixture
def home(tmp_path):
    """Two batches and a warehouse that was built from them."""
    return make_home(tmp_path / "home")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of such a home; copy it to harm it."""
    return make_home(tmp_path_factory.mktemp("whole") / "home").root


def make_home(root):
    home = Home.chosen(root)
    lake = Lake.create(home.lake)
    for path in "ab":
        put(lake, raw_files=kept(**{path: CONTENT}), trials=trials(**{path: "1"}), exchanges=exchanges(f"{path}-1"))
    with duckdb.connect(str(home.warehouse)) as connection:
        connection.execute("create table build_info as select $1::varchar[] as lake_batches", [lake.batches()])
        connection.execute(
            "create table trials as select range as trial, md5(range::varchar) as text from range(50000)"
        )
    return home


def with_column(name, value):
    return lambda rows: rows.set_column(
        rows.schema.get_field_index(name), name, pa.array([value] * rows.num_rows, rows.schema.field(name).type)
    )


def test_a_whole_home_has_no_faults(home):
    assert verify(home).text() == "2 batches verified, no faults"
    compact(Lake(home.lake))
    assert verify(home).text() == "2 batches verified, no faults"


def test_an_ingested_tree_has_no_faults(tree, tmp_path):
    home = Home.chosen(tmp_path / "home")
    (tree / "noise.bin").write_bytes(bytes(range(256)))
    os.mkfifo(tree / "pipe.txt")
    ingest([tree], Lake.create(home.lake))
    assert verify(home).faults == []


@settings(max_examples=40)
@given(st.sampled_from([*WRITTEN, "log"]), st.integers(0, 1 << 20), st.integers(0, 7), st.booleans())
def test_a_flipped_bit_or_a_cut_anywhere_is_found_and_named(whole, file_of, position, bit, cut):
    with tempfile.TemporaryDirectory() as root:
        home = Home.chosen(shutil.copytree(whole, Path(root) / "home"))
        file = home.lake / "log" / "00000001.json" if file_of == "log" else Lake(home.lake).files(file_of)[1]
        before = file.read_bytes()
        if cut:
            file.write_bytes(before[: position % (len(before) - 1)])
        else:
            flip(file, position, bit)
        if before.split() != file.read_bytes().split():  # white space of the log means nothing
            assert file in [fault.path for fault in verify(home).faults]


@pytest.mark.parametrize("harm", ["cut", "flip"])
def test_a_damaged_warehouse_is_named(home, harm):
    size = home.warehouse.stat().st_size
    if harm == "cut":
        os.truncate(home.warehouse, size // 2)
    else:
        flip(home.warehouse, size - 262_144 // 2)
    [fault] = verify(home).faults
    assert fault.path == home.warehouse
    assert "cannot be read" in fault.reason
    assert "dropline build" in fault.advice


def test_a_missing_file_and_a_missing_batch_are_named(home):
    lake = Lake(home.lake)
    second = lake.batches()[1]
    lake.files("trials")[1].unlink()
    (home.lake / "log" / "00000002.json").unlink()
    told = verify(home).text()
    assert "/trials.parquet: is missing" in told
    assert f"{home.warehouse}: built from 1 batches that are gone, first {second}" in told


@pytest.mark.parametrize(
    ("table", "change", "said"),
    [
        ("raw_files", with_column("content", b"2"), "the kept bytes of c: b are not those of its SHA-256"),
        ("raw_files", with_column("size_bytes", 9), "the kept bytes of c: b are not those of its SHA-256"),
        ("raw_files", with_column("batch", "00000009-x"), "c: b is of batch 00000009-x"),
        ("raw_files", with_column("trials", 2), "c: b has 1 trials, and raw_files says 2"),
        ("raw_files", lambda rows: rows.slice(0, 0), "c: b has trials and no raw file"),
        ("trials", lambda rows: rows.slice(0, 0), "c: b has 0 trials, and raw_files says 1"),
        ("exchanges", with_column("trial_id", "nobody"), "1 rows belong to no trial and no file of the batch"),
        ("exchanges", with_column("batch", "00000009-x"), "1 rows belong to no trial and no file of the batch"),
    ],
)
def test_rows_that_contradict_each_other_are_named(home, table, change, said):
    rewritten(Lake(home.lake), table, change)
    assert said in verify(home).text()


@pytest.mark.parametrize(("trial", "path", "orphans"), [(None, "a", 0), (None, None, 0), (None, "z", 1), ("z", "a", 1)])
def test_an_observation_belongs_to_a_trial_or_to_a_file(tmp_path, trial, path, orphans):
    home = Home.chosen(tmp_path)
    row = {"trial_id": trial, "batch": "", "campaign": "c", "source_path": path, "metric": "cpu", "value": 1.0}
    observed = pa.Table.from_pylist([row], schema=TABLES["observations"])
    put(Lake.create(home.lake), raw_files=kept(a=CONTENT), trials=trials(a="1"), observations=observed)
    assert len(verify(home).faults) == orphans


def test_findings_of_nobody_are_named_and_what_a_dead_process_left_is_no_fault(home):
    (home.lake / "files" / "dead").mkdir()
    findings = home.quality / "findings"
    findings.mkdir(parents=True)
    for name in ("00000000-empty", Lake(home.lake).batches()[1], "00000009-gone"):
        (findings / f"lake-{name}.parquet").touch()
    assert [fault.path for fault in verify(home).faults] == [findings / "lake-00000009-gone.parquet"]


@pytest.mark.parametrize("place", [0, 5, -1])
def test_altered_findings_are_named(place, tree, tmp_path):
    home = Home(tmp_path / "home")
    ingest([tree], Lake.create(home.lake))
    check_lake(home.lake, home.quality)
    assert verify(home).faults == []
    file = max((home.quality / "findings").iterdir())
    flip(file, place)
    assert [(fault.path, "SHA-256" in fault.reason) for fault in verify(home).faults] == [(file, True)]


def test_setting_aside_lets_everything_else_work_and_the_files_come_again(tree, bare, tmp_path):
    home = Home.chosen(tmp_path / "home")
    lake = Lake.create(home.lake)
    ingest([tree], lake)
    ingest([bare], lake)
    damaged = lake.files("raw_files")[1]
    damaged.write_bytes(b"PAR1 torn")
    for act in (lambda: ingest([tree], lake), lambda: reparse(lake), lambda: compact(lake)):
        with pytest.raises(DroplineError, match=r"raw_files\.parquet(.|\n)*dropline verify"):
            act()

    assert [folder.name for folder in verify(home, set_aside=True).set_aside] == [damaged.parent.name]
    assert (home.lake / "damaged" / damaged.parent.name / "trials.parquet").exists()
    assert verify(home).faults == []
    assert (ingest([bare], lake).batch, ingest([tree], lake).trials) == (None, 7)
    assert lake.batches()[-1].startswith("00000004-")


def test_a_damaged_entry_of_the_log_is_set_aside_with_its_batch(home):
    lake = Lake(home.lake)
    flip(home.lake / "log" / "00000001.json", 30)
    with pytest.raises(DroplineError, match=r"00000001\.json(.|\n)*dropline verify"):
        lake.current_files()
    assert verify(home, set_aside=True).set_aside == [home.lake / "damaged" / "00000001.json"]
    assert lake.current_files().keys() == {("c", "b")}


@pytest.mark.parametrize("table", WRITTEN)
@settings(max_examples=20)
@given(st.integers(0, 1 << 20), st.integers(0, 7), st.booleans())
def test_reading_a_damaged_file_gives_rows_or_an_error_that_names_it(whole, table, position, bit, cut):
    """Arrow cannot know of each flipped bit; what it does notice arrives as one kind of error."""
    with tempfile.TemporaryDirectory() as root:
        lake = Lake(shutil.copytree(whole / "lake", Path(root) / "lake"))
        file = lake.files(table)[1]
        if cut:
            os.truncate(file, position % file.stat().st_size)
        else:
            flip(file, position, bit)
        for read in (lambda: lake.tables(table).to_pylist(), lake.current_files, lake.places):
            try:
                read()
            except DroplineError as error:
                assert str(file) in str(error) and "dropline verify" in str(error)
            except UnicodeDecodeError:
                assert not cut


def test_faults_are_safe_to_print_and_give_exit_code_1(home):
    rewritten(Lake(home.lake), "raw_files", with_column("source_path", "\x1b[2J"))
    done = dropline("verify", home=home.root)
    assert done.code == 1
    assert "?[2J has 0 trials" in done.stdout
    assert "\x1b" not in done.stdout
