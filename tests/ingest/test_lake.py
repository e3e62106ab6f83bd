"""The lake: batches appear whole, in order, once."""

from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dropline.ingest import lake as lake_module
from dropline.ingest.lake import Lake, Version
from dropline.ingest.parquet import sha256_of
from dropline.ingest.schema import TABLES
from tests.lakes import leftovers, put


def raw_files(**sha256_of):
    same = {"campaign": "c", "batch": "", "size_bytes": 1, "context_sha256": "x", "content": b"1", "status": "trials"}
    rows = [{**same, "source_path": path, "sha256": sha256, "trials": 1} for path, sha256 in sha256_of.items()]
    return pa.Table.from_pylist(rows, schema=TABLES["raw_files"])


def trials(**sha256_of):
    same = {"campaign": "c", "batch": "", "report_index": 0, "tool": "perfdhcp", "completed": True}
    rows = [
        {**same, "trial_id": f"{path}-{sha256}", "source_path": path, "source_sha256": sha256}
        for path, sha256 in sha256_of.items()
    ]
    return pa.Table.from_pylist(rows, schema=TABLES["trials"])


def exchanges(*trial_ids):
    rows = [{"trial_id": t, "batch": "", "exchange": "E", "position": 0} for t in trial_ids]
    return pa.Table.from_pylist(rows, schema=TABLES["exchanges"])


@pytest.fixture
def lake(tmp_path):
    return Lake.create(tmp_path / "lake")


def test_a_new_lake_has_every_table_with_its_schema_and_no_rows(lake):
    assert lake.batches() == []
    for name, schema in TABLES.items():
        (file,) = lake.files(name)
        assert pq.read_schema(file).equals(schema)
        assert lake.tables(name).num_rows == 0


def test_looking_at_a_lake_that_is_not_there_makes_nothing(tmp_path):
    lake = Lake(tmp_path / "none")
    assert (lake.batches(), lake.current_files(), lake.files("trials")) == ([], {}, [])
    assert not lake.root.exists()


def test_a_committed_batch_is_whole_numbered_and_compressed(lake):
    name = put(lake, raw_files=raw_files(a="1"), trials=trials(a="1"))
    assert name.startswith("00000001-")
    (entry,) = lake.entries()
    assert (entry.number, entry.batches, entry.files.keys()) == (1, (name,), {"raw_files", "trials"})
    for part in entry.files.values():
        file = lake.root / part.path
        assert (part.rows, part.size_bytes, part.sha256) == (1, file.stat().st_size, sha256_of(file))
    assert lake.tables("trials", ["batch", "trial_id"]).to_pylist() == [{"batch": name, "trial_id": "a-1"}]
    assert pq.read_metadata(lake.files("raw_files")[-1]).row_group(0).column(0).compression == "ZSTD"
    assert not leftovers(lake)


def test_the_newest_version_of_a_file_counts_and_the_old_one_stays(lake):
    put(lake, raw_files=raw_files(a="1", b="1"))
    put(lake, raw_files=raw_files(a="2"))
    current = lake.current_files()
    assert current[("c", "a")] == Version("2", "x", "trials")
    assert current[("c", "b")] == Version("1", "x", "trials")
    assert lake.tables("raw_files", ["sha256"]).num_rows == 3


def test_a_clock_that_steps_back_does_not_change_the_order(lake, monkeypatch):
    class Clock:
        year = 2030

        @classmethod
        def now(cls, zone):
            cls.year -= 1
            return datetime(cls.year, 1, 1, tzinfo=zone)

    monkeypatch.setattr(lake_module, "datetime", Clock)
    for sha256 in "123":
        put(lake, raw_files=raw_files(a=sha256))
    assert [name[:8] for name in lake.batches()] == ["00000001", "00000002", "00000003"]
    assert lake.current_files()[("c", "a")].sha256 == "3"


def test_leaving_without_commit_leaves_nothing(lake):
    with pytest.raises(KeyboardInterrupt), lake.batch() as batch:
        batch.add("raw_files", raw_files(a="1"))
        raise KeyboardInterrupt
    assert not leftovers(lake)
    assert lake.current_files() == {}


def test_two_batches_begun_at_once_get_two_numbers(lake):
    with lake.batch() as first, lake.batch() as second:
        first.add("raw_files", raw_files(a="1"))
        second.add("raw_files", raw_files(b="1"))
        second.add("trials", trials(b="1"))
        one, two = first.commit(), second.commit()
    assert (one[:8], two[:8]) == ("00000001", "00000002")
    assert lake.tables("trials", ["batch"]).to_pylist() == [{"batch": two}]
    assert lake.batches() == [one, two]


def test_what_another_batch_has_committed_meanwhile_is_dropped_with_all_its_rows(lake):
    with lake.batch() as first, lake.batch() as second:
        first.add("raw_files", raw_files(a="1", b="1"))
        first.add("trials", trials(a="1", b="1"))
        second.add("raw_files", raw_files(a="1", b="2", c="1"))
        second.add("trials", trials(a="1", b="2", c="1"))
        second.add("exchanges", exchanges("a-1", "b-2", "c-1"))
        first.commit()
        second.commit()
    assert set(second.dropped) == {("c", "a")}
    assert second.dropped_trials == 1
    assert sorted(lake.tables("trials")["trial_id"].to_pylist()) == ["a-1", "b-1", "b-2", "c-1"]
    assert lake.tables("exchanges")["trial_id"].to_pylist() == ["b-2", "c-1"]
    assert lake.current_files()[("c", "b")].sha256 == "2"


def test_what_was_committed_before_the_batch_began_but_after_the_look_is_dropped_too(lake):
    put(lake, raw_files=raw_files(z="1"))
    newest = lake.batches()[-1]
    put(lake, raw_files=raw_files(a="1"), trials=trials(a="1"))
    with lake.batch(after=newest) as late:
        late.add("raw_files", raw_files(a="1", b="1"))
        late.add("trials", trials(a="1", b="1"))
        assert late.commit()
    assert sorted(lake.tables("trials")["trial_id"].to_pylist()) == ["a-1", "b-1"]


def test_a_batch_that_others_have_committed_whole_is_not_written(lake):
    with lake.batch() as first, lake.batch() as second:
        for batch in (first, second):
            batch.add("raw_files", raw_files(a="1"))
            batch.add("trials", trials(a="1"))
        assert first.commit()
        assert second.commit() is None
    assert second.dropped_trials == 1
    assert len(lake.batches()) == 1
    assert not leftovers(lake)


def test_current_files_does_not_read_contents(lake, monkeypatch):
    put(lake, raw_files=raw_files(a="1"))
    asked = []
    read_table = pq.read_table
    monkeypatch.setattr(
        pq, "read_table", lambda *a, columns, **k: asked.extend(columns) or read_table(*a, columns=columns, **k)
    )
    assert lake.current_files()
    assert asked
    assert "content" not in asked


def test_rows_that_break_the_schema_are_refused_before_anything_is_visible(lake):
    broken = trials(a="1").set_column(0, pa.field("trial_id", pa.string()), pa.array([None], pa.string()))
    with pytest.raises((ValueError, TypeError)):
        put(lake, trials=broken)
    assert lake.batches() == []
    assert not leftovers(lake)


def test_what_the_dead_left_is_swept_and_what_the_living_write_is_kept(lake):
    dead = lake.root / "files" / "00000001-20261120T134501Z-dead"
    dead.mkdir()
    (dead / "trials.parquet").write_bytes(b"half")
    with lake.batch() as living:
        living.add("raw_files", raw_files(a="1"))
        put(lake, raw_files=raw_files(b="1"))
        assert not dead.exists()
        assert living.commit()
    assert set(lake.current_files()) == {("c", "a"), ("c", "b")}
    assert not leftovers(lake)


def test_a_number_is_given_once_and_whoever_comes_second_takes_the_next(lake, monkeypatch):
    number = Lake.next_number

    def beaten(of):
        monkeypatch.setattr(Lake, "next_number", number)
        found = number(of)
        put(lake, raw_files=raw_files(b="1"))
        return found

    with lake.batch() as batch:
        batch.add("raw_files", raw_files(a="1"))
        monkeypatch.setattr(Lake, "next_number", beaten)
        name = batch.commit()
    assert [entry.number for entry in lake.entries()] == [1, 2]
    assert lake.batches()[1] == name
    assert lake.tables("raw_files", ["source_path", "batch"]).to_pylist()[1] == {"source_path": "a", "batch": name}


def test_a_lake_is_laid_out_as_of_one_instant(lake, tmp_path):
    put(lake, raw_files=raw_files(a="1"), trials=trials(a="1"))
    laid_out = lake.lay_out(tmp_path / "tables")
    put(lake, raw_files=raw_files(b="1"), trials=trials(b="1"))
    assert {(c, path) for c, path in laid_out.current_files()} == {("c", "a")}
    found = {
        table: [pq.read_table(file) for file in sorted((tmp_path / "tables" / table).iterdir())] for table in TABLES
    }
    assert {table: pa.concat_tables(files).num_rows for table, files in found.items() if len(files) > 1} == {
        "raw_files": 1,
        "trials": 1,
    }
    assert all(files[0].schema.equals(TABLES[table]) for table, files in found.items())


def test_files_of_an_older_version_are_read_in_the_columns_of_today(lake):
    put(lake, raw_files=raw_files(a="1"), trials=trials(a="1"))
    file = lake.files("trials")[-1]
    pq.write_table(pq.read_table(file, partitioning=None).drop_columns("details"), file)
    assert lake.tables("trials").schema.equals(TABLES["trials"])
    old = lake.root / "empty" / "trials.parquet"
    pq.write_table(pq.read_table(old).drop_columns("details"), old)
    assert pq.read_schema(Lake.create(lake.root).files("trials")[0]).equals(TABLES["trials"])
