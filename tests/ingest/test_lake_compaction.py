"""Compaction: fewer batches, the same rows; killed, doubled or beside a reader."""

import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_lake import exchanges, raw_files, trials

from dropline.errors import DroplineError
from dropline.ingest import compaction
from dropline.ingest.compaction import compact
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.ingest.reparsing import Kept, rejects, reparse
from dropline.ingest.schema import TABLES
from dropline.ingest.verification import damaged
from tests import dying
from tests.lakes import flip, leftovers, put, rewritten

COMPACT = """
from dropline.ingest.compaction import compact
from dropline.ingest.lake import Lake

def act(root):
    compact(Lake(root))
"""


@pytest.fixture
def lake(tmp_path):
    """Four batches: two versions of a file, one file read again, one more."""
    lake = Lake.create(tmp_path / "lake")
    put(lake, raw_files=raw_files(a="1", b="1"), trials=trials(a="1", b="1"), exchanges=exchanges("a-1"))
    put(lake, raw_files=raw_files(a="2"), trials=trials(a="2"))
    put(lake, reread=True, raw_files=raw_files(b="1"), trials=trials(b="1"))
    put(lake, raw_files=raw_files(c="1"), trials=trials(c="1"))
    return lake


def everything(lake):
    """All that a reader can ask of a lake, but for where the rows are; batches by their place in the order."""
    number = {batch: number for number, batch in enumerate(lake.batches())}
    places = [
        (key, number[place.batch], number[place.origin], place.sha256, place.status)
        for key, place in lake.places().items()
    ]
    tables = {
        table: [row | {"batch": number[row["batch"]]} for row in lake.tables(table).to_pylist()] for table in TABLES
    }
    return tables, list(lake.current_files().items()), places, len(number)


def test_many_commits_become_one_and_every_row_stays_in_its_place(lake):
    before, batches = everything(lake), lake.batches()
    assert compact(lake).text() == "4 commits merged into 1; the lake has 1 now"
    (entry,) = lake.entries()
    assert (entry.number, entry.replaces, list(entry.batches)) == (5, (1, 2, 3, 4), batches)
    assert (everything(lake), damaged(lake), leftovers(lake)) == (before, [], set())
    assert compact(lake).text() == "1 commit; nothing to merge"
    put(lake, raw_files=raw_files(d="1"))
    assert lake.batches()[-1].startswith("00000006-")


def test_large_entries_stay_as_they_are(lake):
    sizes = [sum(part.size_bytes for part in entry.files.values()) for entry in lake.entries()]
    assert compact(lake, large_bytes=max(sizes)).merged == 2
    assert [entry.number for entry in lake.entries()] == [1, 5, 4]


def test_an_ingest_that_began_before_the_compaction_still_leaves_out_what_others_brought(lake):
    with lake.batch() as late:
        late.add("raw_files", raw_files(d="1", e="1"))
        late.add("trials", trials(d="1", e="1"))
        put(lake, raw_files=raw_files(d="1"), trials=trials(d="1"))
        compact(lake)
        assert late.commit().startswith("00000007-")
    assert set(late.dropped) == {("c", "d")}
    assert Counter(lake.tables("trials", ["trial_id"])["trial_id"].to_pylist())["d-1"] == 1


def test_row_groups_of_many_batches_are_gathered_and_stay_bounded(lake, monkeypatch):
    before = lake.tables("raw_files")
    monkeypatch.setattr("dropline.ingest.parquet.GROUP_ROWS", 3)
    compact(lake)
    metadata = pq.read_metadata(lake.files("raw_files")[-1])
    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [3, 2]
    assert lake.tables("raw_files") == before
    place = lake.places()["c", "c"]
    assert lake.contents(place.file, place.row_group)[place.row].as_py() == b"1"


def test_a_batch_of_an_older_version_gets_the_columns_that_it_lacks(lake):
    rewritten(lake, "trials", lambda rows: rows.drop_columns("details"), 1)
    compact(lake)
    assert pq.read_schema(lake.files("trials")[-1]).equals(TABLES["trials"])
    assert lake.tables("trials").num_rows == 5


def test_a_batch_of_a_newer_version_is_left_alone(lake):
    before = lake.entries()
    rewritten(lake, "trials", lambda rows: rows.append_column("colour", pa.nulls(rows.num_rows, pa.string())))
    with pytest.raises(DroplineError, match=r"trials\.parquet has columns .*colour"):
        compact(lake)
    assert [entry.number for entry in lake.entries()] == [entry.number for entry in before]


def test_a_damaged_batch_is_never_merged(lake):
    before = lake.entries()
    flip(lake.files("trials")[1], 40)
    with pytest.raises(DroplineError, match=r"trials\.parquet: .*SHA-256"):
        compact(lake)
    assert lake.entries() == before


def test_replaced_batches_stay_until_their_reader_has_ended(lake):
    first = lake.files("trials")[1]
    with lake.reading():
        done = compact(lake)
        assert done.waiting == 4
        assert "the next ingest deletes the 4 replaced ones" in done.text()
        assert len(lake.entries()) == 1
        assert first.exists()
        put(lake, raw_files=raw_files(d="1"))
        assert first.exists()
    put(lake, raw_files=raw_files(e="1"))
    assert not first.exists()
    assert not leftovers(lake)


def test_what_is_compacted_while_it_is_read_is_read_to_its_end(lake, monkeypatch):
    before, opened = lake.tables("trials").num_rows, pq.ParquetFile

    def beside_a_compaction(file):
        monkeypatch.setattr(pq, "ParquetFile", opened)
        assert compact(lake).merged == 4
        return opened(file)

    monkeypatch.setattr(pq, "ParquetFile", beside_a_compaction)
    assert lake.tables("trials").num_rows == before
    assert len(lake.entries()) == 1


def test_a_reader_needs_no_right_to_write(lake):
    compact(lake)
    for path in (lake.root / "log", lake.root):
        path.chmod(0o555)
    try:
        with lake.reading():
            assert lake.current_files()
    finally:
        for path in (lake.root, lake.root / "log"):
            path.chmod(0o755)


def test_history_is_read_again_from_a_compacted_lake_as_from_any_other(tree, tmp_path):
    lake = Lake(tmp_path / "lake")
    ingest([tree], lake)
    output = next(tree.glob("runs/**/*.txt"))
    output.write_bytes(output.read_bytes().replace(b"Rate:", b"Rate :"))
    ingest([tree], lake)
    (tree / "noise.bin").write_bytes(bytes(range(256)))
    ingest([tree], lake)
    plain = Lake(shutil.copytree(lake.root, tmp_path / "plain"))
    compact(lake)

    assert rejects(lake) == rejects(plain)
    assert reparse(lake).text() == reparse(plain).text()
    assert "nothing changes" in reparse(lake).text()
    assert ingest([tree], lake).batch is None


def test_a_rereading_that_began_before_the_compaction_finds_its_bytes(tree, tmp_path):
    lake = Lake(tmp_path / "lake")
    ingest([tree / "configs"], lake)
    ingest([tree], lake)
    kept = Kept(lake)
    assert compact(lake).waiting == 2
    assert all(kept.read(item, 1 << 30)[0] for item in kept.survey())
    del kept
    assert lake.sweep() == 0
    assert not leftovers(lake)


def test_killed_at_any_instant_it_leaves_every_trial_exactly_once(lake, tmp_path):
    before, states = everything(lake), Counter()
    for root in dying.killed(COMPACT, lake.root, tmp_path / "copies", 21):
        killed = Lake(root)
        merged = len(killed.entries()) == 1
        states["not merged" if not merged else "not swept" if leftovers(killed) else "swept"] += 1
        assert everything(killed) == before
        assert damaged(killed) == []
        put(killed, raw_files=raw_files(z="1"))
        compact(killed)
        assert len(killed.entries()) == 1
        assert not leftovers(killed)
    # The instants lay on both sides of the rename and of the sweep, or this would say nothing of them.
    assert min(states["not merged"], states["not swept"], states["swept"]) > 0, states


def test_of_two_compactions_at_once_one_gives_way(lake, monkeypatch):
    before, merge = everything(lake), compaction._merge

    def after_another(lake, run, doomed):
        monkeypatch.setattr(compaction, "_merge", merge)
        compact(lake)
        return merge(lake, run, doomed)

    monkeypatch.setattr(compaction, "_merge", after_another)
    assert compact(lake).into == 0
    assert len(lake.entries()) == 1
    assert not leftovers(lake)
    assert everything(lake) == before


FILES = st.dictionaries(st.sampled_from("abc"), st.sampled_from("12"), min_size=1, max_size=3)
STEPS = st.lists(st.one_of(FILES, st.tuples(FILES), st.sampled_from([3_000_000, 30_000])), min_size=1, max_size=6)


@settings(max_examples=12)
@given(STEPS)
def test_no_sequence_of_ingests_and_compactions_can_be_told_from_the_ingests_alone(steps):
    """A dictionary is an ingest of files, a tuple reads them again, a number compacts up to that size."""
    with tempfile.TemporaryDirectory() as root:
        plain, compacted = Lake.create(Path(root) / "plain"), Lake.create(Path(root) / "compacted")
        for step in steps:
            if isinstance(step, int):
                compact(compacted, large_bytes=step)
                continue
            [files] = step if isinstance(step, tuple) else [step]
            for lake in (plain, compacted):
                put(lake, reread=isinstance(step, tuple), raw_files=raw_files(**files), trials=trials(**files))
        assert everything(compacted) == everything(plain)
