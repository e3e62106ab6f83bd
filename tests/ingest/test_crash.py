"""Killed or doubled, an ingest leaves every trial in the lake exactly once."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.ingest.verification import damaged
from tests.lakes import leftovers

ROOT = Path(__file__).parents[2]
TRIALS = 7
KILLS = 30  # a third by the clock, a third over all file operations, a third in the last of them

# One process that imports once and forks for every ingest; it starts no threads before a fork.
KILLER = """
import os, random, signal, sys, time
from pathlib import Path
from dropline.ingest.loader import ingest
from dropline.ingest.lake import Lake
from tests.dying import die_at

tree, lakes, kills = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])

def run(lake, last_step=None):
    steps = die_at(last_step)
    ingest([tree], Lake(lake))
    if last_step is None:
        (lakes / "steps").write_text(str(len(steps)))
    os._exit(0)

def start(*arguments):
    return os.fork() or run(*arguments)

began = time.perf_counter()
os.waitpid(start(lakes / "whole"), 0)
duration, steps = time.perf_counter() - began, int((lakes / "steps").read_text())
chance = random.Random(20261120)
for number in range(kills // 3):
    child = start(lakes / f"{number}-clock")
    time.sleep(chance.uniform(0.1, 1.1) * duration)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for kind, last in (("any", chance.randrange(1, steps + 1)), ("end", steps - number)):
        os.waitpid(start(lakes / f"{number}-{kind}", last), 0)
"""

MEETING = """
import sys, time
from pathlib import Path
from dropline.ingest.loader import ingest
from dropline.ingest.lake import Lake

tree, lake, own, other = map(Path, sys.argv[1:])

def wait_for_the_other(done, total, path):
    own.touch()
    while not other.exists():
        time.sleep(0.005)

summary = ingest([tree], Lake.create(lake), progress=wait_for_the_other)
print(summary.seen, summary.ingested, summary.skipped, summary.rejected, summary.trials)
"""


def assert_every_trial_once(lake):
    trials = Counter(lake.tables("trials", ["source_path"])["source_path"].to_pylist())
    assert len(trials) == TRIALS
    assert set(trials.values()) == {1}
    paths = Counter(lake.tables("raw_files", ["source_path"])["source_path"].to_pylist())
    assert set(paths.values()) == {1}


def test_killed_at_any_instant_it_leaves_nothing_half_visible(tree, tmp_path):
    lakes = tmp_path / "lakes"
    command = [sys.executable, "-c", KILLER, str(tree), str(lakes), str(KILLS)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=120)
    states = Counter()
    for name in (f"{n}-{kind}" for n in range(KILLS // 3) for kind in ("clock", "any", "end")):
        lake = Lake(lakes / name)
        assert damaged(lake) == []
        committed = len(lake.batches()) == 1
        states["committed" if committed else "not committed"] += 1
        summary = ingest([tree], lake)
        assert summary.trials == (0 if committed else TRIALS)
        assert_every_trial_once(lake)
        if not committed:
            assert not leftovers(lake)
    # The instants lay on both sides of the commit, or this would say nothing of it.
    assert min(states["committed"], states["not committed"]) > 0, states


def test_two_ingests_at_once_bring_every_trial_once(tree, tmp_path):
    lake, marks = Lake.create(tmp_path / "lake"), [tmp_path / "one", tmp_path / "two"]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", MEETING, *map(str, (tree, lake.root, *order))],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for order in (marks, marks[::-1])
    ]
    told = [[int(n) for n in process.communicate(timeout=60)[0].split()] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    for seen, ingested, skipped, rejected, _ in told:
        assert seen == ingested + skipped + rejected
    assert sum(trials for *_, trials in told) == TRIALS
    assert_every_trial_once(lake)


def test_two_ingests_of_different_trees_both_commit(tree, bare, tmp_path):
    lake, marks = Lake.create(tmp_path / "lake"), [tmp_path / "one", tmp_path / "two"]
    running = [
        subprocess.Popen([sys.executable, "-c", MEETING, *map(str, (folder, lake.root, *order))], cwd=ROOT)
        for folder, order in ((tree, marks), (bare, marks[::-1]))
    ]
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    assert [name[:8] for name in lake.batches()] == ["00000001", "00000002"]
    assert lake.tables("trials").num_rows == TRIALS + 2
