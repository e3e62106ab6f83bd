"""A backup is a home: whole, verified, of one instant, and it only grows by what is new."""

import json
import os
import shutil

import duckdb
import pytest
from test_lake import trials
from test_lake_damage import kept

from dropline.errors import DroplineError
from dropline.ingest import backup as backup_module
from dropline.ingest.backup import backup
from dropline.ingest.compaction import compact
from dropline.ingest.lake import Lake
from dropline.ingest.verification import MARKER, verify
from dropline.paths import Home
from tests.commands import dropline
from tests.lakes import flip, leftovers, put


def commit(home, path):
    return put(Lake.create(home.lake), raw_files=kept(**{path: b"1"}), trials=trials(**{path: "1"}))


def publish(home):
    """What a build leaves: a warehouse in the place of the one before it, and what the gate found."""
    built = home.root / "built"
    with duckdb.connect(str(built)) as connection:
        batches = list(Lake(home.lake).commits())
        connection.execute("create table build_info as select $1::varchar[] as lake_batches", [batches])
    built.replace(home.warehouse)
    (home.quality / "findings").mkdir(parents=True, exist_ok=True)
    (home.quality / "gate.json").write_text(json.dumps(len(batches)))
    for batch in batches:
        (home.quality / "findings" / f"lake-{batch}.parquet").write_text(batch)


def built_from(home):
    with duckdb.connect(str(home.warehouse), read_only=True) as connection:
        return connection.execute("select unnest(lake_batches) from build_info").fetchall()


def findings(home):
    return sorted(file.name for file in (home.quality / "findings").iterdir())


@pytest.fixture
def home(tmp_path):
    home = Home.chosen(tmp_path / "home")
    for path in "ab":
        commit(home, path)
    publish(home)
    return home


@pytest.fixture
def copy(tmp_path):
    return Home.chosen(tmp_path / "backup")


def test_a_backup_is_a_home_with_all_that_was_in_the_other(home, copy):
    assert "2 batches, 2 of them copied now, and the published warehouse" in backup(home, copy.root)
    assert Lake(copy.lake).batches() == Lake(home.lake).batches()
    assert Lake(copy.lake).tables("raw_files") == Lake(home.lake).tables("raw_files")
    assert copy.warehouse.read_bytes() == home.warehouse.read_bytes()
    assert (findings(copy), (copy.quality / "gate.json").read_text()) == (findings(home), "2")
    assert verify(copy).faults == []
    assert json.loads((copy.root / MARKER).read_text())["finished_at"]


def test_it_can_be_moved_and_worked_with(home, copy, tmp_path):
    backup(home, copy.root)
    moved = Home.chosen(copy.root.rename(tmp_path / "elsewhere"))
    shutil.rmtree(home.root)
    commit(moved, "c")
    assert len(Lake(moved.lake).current_files()) == 3
    assert verify(moved).faults == []


def test_a_second_backup_copies_only_what_is_new(home, copy):
    with pytest.raises(DroplineError, match="in the home"):
        backup(home, home.root / "copy")
    backup(home, copy.root)
    before = {file: file.stat().st_ino for file in copy.lake.glob("files/*/*")}
    commit(home, "c")
    publish(home)
    assert ", 1 of them copied now" in backup(home, copy.root)
    assert before.items() <= {file: file.stat().st_ino for file in copy.lake.glob("files/*/*")}.items()
    assert findings(copy) == findings(home)
    assert ", 0 of them copied now" in backup(home, copy.root)


def test_what_was_compacted_in_the_home_is_replaced_in_the_backup(home, copy):
    backup(home, copy.root)
    compact(Lake(home.lake))
    assert ", 0 of them copied now" in backup(home, copy.root)
    assert len(Lake(copy.lake).entries()) == 1
    assert not leftovers(Lake(copy.lake))
    assert verify(copy).faults == []


def test_what_is_committed_and_built_meanwhile_gives_no_mixture(home, copy, monkeypatch):
    before = built_from(home)
    copy_file = backup_module._copy_file

    def beside_a_build(file, place):
        monkeypatch.setattr(backup_module, "_copy_file", copy_file)
        commit(home, "c")
        publish(home)
        compact(Lake(home.lake))
        copy_file(file, place)

    monkeypatch.setattr(backup_module, "_copy_file", beside_a_build)
    assert "holds 2 batches" in backup(home, copy.root)
    assert built_from(copy) == before
    assert [f"lake-{batch}.parquet" for (batch,) in before] == findings(copy)
    assert verify(copy).faults == []


def test_killed_while_it_marks_the_folder_it_goes_on_the_next_time(home, copy):
    copy.root.mkdir()
    (copy.root / f"{MARKER}.123.partial").write_bytes(b"{")
    assert "holds 2 batches" in backup(home, copy.root)


def test_an_unfinished_backup_says_so(home, copy, monkeypatch):
    monkeypatch.setattr(backup_module, "_copy_quality", lambda *_: os.kill(os.getpid(), 2))
    with pytest.raises(KeyboardInterrupt):
        backup(home, copy.root)
    [fault] = verify(copy).faults
    assert fault.path == copy.root / MARKER
    assert "was not finished" in fault.reason


def test_a_full_disk_is_told_in_words_and_what_was_half_copied_is_copied_again(home, copy, monkeypatch):
    def full(read, write, *_):
        write.write(read.read(100))
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(DroplineError, match="No space left on device"):
        patch.setattr(backup_module.shutil, "copyfileobj", full)
        backup(home, copy.root)
    assert any("was not finished" in fault.reason for fault in verify(copy).faults)
    backup(home, copy.root)
    assert verify(copy).faults == []


def test_a_damaged_copy_is_told_and_can_be_made_good(home, copy):
    backup(home, copy.root)
    damaged = Lake(copy.lake).files("trials")[1]
    flip(damaged, 40)
    with pytest.raises(DroplineError, match=r"trials\.parquet: (.|\n)*remove these files and back up again"):
        backup(home, copy.root)
    damaged.unlink()
    backup(home, copy.root)
    assert verify(copy).faults == []


def test_a_damaged_home_gives_no_finished_backup_and_harms_no_earlier_one(home, copy):
    backup(home, copy.root)
    file = Lake(home.lake).files("trials")[1]
    flip(file, 40)
    assert ", 0 of them copied now" in backup(home, copy.root)
    assert Lake(copy.lake).files("trials")[1].read_bytes() != file.read_bytes()
    with pytest.raises(DroplineError, match="SHA-256"):
        backup(home, copy.root.with_name("another"))


def test_a_folder_that_holds_something_else_is_left_alone(home, copy, tmp_path):
    with pytest.raises(DroplineError, match="something other"):
        backup(home, home.root)
    other = Home.chosen(tmp_path / "other")
    for path in "xyz":
        commit(other, path)
    backup(other, copy.root)
    with pytest.raises(DroplineError, match=r"is not a commit of"):
        backup(home, copy.root)
    assert Lake(copy.lake).tables("trials") == Lake(other.lake).tables("trials")
    assert verify(copy).faults == []


def test_a_home_without_a_lake_and_a_second_writer_are_refused(home, copy, tmp_path):
    with pytest.raises(DroplineError, match="nothing to back up"):
        backup(Home.chosen(tmp_path / "none"), copy.root)
    assert verify(Home.chosen(tmp_path / "none")).faults
    with backup_module._alone(copy), pytest.raises(DroplineError, match="another backup"):
        backup(home, copy.root)


def test_it_works_from_the_command_line(home, copy):
    done = dropline("backup", copy.root, home=home.root)
    assert (done.code, "verified" in done.stdout) == (0, True), done.stderr
    assert dropline("backup", home.root, home=home.root).code == 1
