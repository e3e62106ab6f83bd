"""A home of before the log: made by an earlier version, and opened by this one."""

import tarfile
from pathlib import Path

import pytest

from dropline.ingest.lake import Lake
from dropline.ingest.reparsing import reparse
from dropline.ingest.verification import verify
from dropline.paths import Home
from tests.commands import dropline
from tests.dying import killed
from tests.lakes import leftovers, put

# Written by the commit 9b04306: two ingests that were compacted, and a third. The campaigns are of one trial each.
PACKED = Path(__file__).with_name("home-before-the-log.tar.gz")
MIGRATE = """
from dropline.ingest.migration import migrate

def act(root):
    migrate(root / "lake")
"""


@pytest.fixture
def home(tmp_path):
    with tarfile.open(PACKED) as packed:
        packed.extractall(tmp_path / "home", filter="data")
    return Home.chosen(tmp_path / "home")


def assert_whole(home):
    lake = Lake.create(home.lake)
    assert [(entry.number, len(entry.batches)) for entry in lake.entries()] == [(2, 2), (3, 1)]
    assert {row["campaign"]: row["batch"][:8] for row in lake.tables("trials").to_pylist()} == {
        "one": "00000001",
        "two": "00000002",
        "three": "00000003",
    }
    assert verify(home).text() == "3 batches verified, no faults"
    assert not leftovers(lake)
    return lake


def test_every_batch_becomes_an_entry_when_anybody_opens_it_and_life_goes_on(home):
    assert "3 batches" in dropline("status", home=home.root).stdout
    assert not (home.lake / "batches").exists()
    lake = assert_whole(home)
    assert put(lake, trials=lake.tables("trials").slice(0, 1)).startswith("00000004-")
    assert {(place.origin, place.batch) for place in lake.places().values()} == {
        (batch, batch) for batch in lake.batches()[:3]
    }
    told = reparse(lake)
    assert (told.files, told.without_bytes, told.lost) == (9, 0, [])


def test_killed_at_any_instant_it_is_completed_by_the_next(home, tmp_path):
    for root in killed(MIGRATE, home.root, tmp_path / "copies", 10):
        assert_whole(Home(root))


def test_batches_without_a_manifest_and_those_that_waited_for_a_bucket_come_along(home):
    batches = home.lake / "batches"
    (newest,) = batches.glob("00000003-*")
    (newest / "manifest.json").unlink()
    (home.lake / "outbox").mkdir()
    newest.rename(home.lake / "outbox" / newest.name)
    assert_whole(home)
    assert not (home.lake / "outbox").exists()
