"""Killed, an ingest leaves every trial in the lake exactly once."""

from collections import Counter

from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.ingest.verification import damaged
from tests.dying import killed
from tests.lakes import leftovers

TRIALS = 7
INGEST = """
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest

def act(root):
    ingest([root / "kea"], Lake(root / "lake"))
"""


def test_killed_at_any_instant_it_leaves_nothing_half_visible(tree, tmp_path):
    whole = tmp_path / "whole"
    whole.mkdir()
    tree.rename(whole / tree.name)
    states = Counter()
    for root in killed(INGEST, whole, tmp_path / "copies", 30):
        lake = Lake.create(root / "lake")
        assert damaged(lake) == []
        committed = len(lake.batches()) == 1
        states["committed" if committed else "not committed"] += 1
        summary = ingest([root / tree.name], lake)
        assert summary.trials == (0 if committed else TRIALS)
        for table, count in (("trials", TRIALS), ("raw_files", summary.seen)):
            paths = Counter(lake.tables(table, ["source_path"])["source_path"].to_pylist())
            assert (len(paths), {*paths.values()}) == (count, {1})
        assert committed or not leftovers(lake)
    # The instants lay on both sides of the commit, or this would say nothing of it.
    assert min(states["committed"], states["not committed"]) > 0, states
