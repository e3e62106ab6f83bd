"""Dropline killed at random instants, and started many times at once: what was committed stays, exactly once.

`make torture` kills 320 commands in one home, `make test` six. After each kill nobody is left running, `verify` finds
no fault, a call's files are all there or none, and the warehouse is the old one or the new one, whole. Then the same
command runs to its end, as the next person would type it.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import duckdb

from dropline.ingest.lake import Lake
from dropline.ingest.verification import verify
from dropline.paths import Home

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "kea-2.2-ha"
RUN = "runs/v4_st_memfile_hot-standby/rep1"
KILLS = int(os.environ.get("TORTURE_KILLS", "6"))
SEED = int(os.environ.get("TORTURE_SEED", "20261121"))
SHARES = {"ingest": 40, "compact": 25, "reparse": 15, "rollback": 10, "build": 10}  # of 100 kills

# Every call finds that the reader of perfdhcp has learned something, so that each trial is written again.
REPARSE = """
import sys
from dropline.ingest.formats import perfdhcp
parse, seen = perfdhcp.parse, sys.argv.pop(1)
def parse_better(data):
    for part in parse(data):
        if hasattr(part, "warnings"):
            part.warnings.append("read again: " + seen)
        yield part
perfdhcp.parse = parse_better
from dropline.cli import main
main()
"""


def add_campaign(folder, name):
    """Add a campaign of one run, seven trials, to what there is to ingest."""
    shutil.copytree(EXAMPLE / RUN, folder / name / RUN)
    described = (EXAMPLE / "campaign.yaml").read_text("utf-8").replace("kea-2.2-ha", name)
    (folder / name / "campaign.yaml").write_text(described, "utf-8")


def start(home, *words, program=("-m", "dropline")):
    command = [sys.executable, *program, "--home", str(home.root), *map(str, words)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def must_succeed(*running):
    """Let all of them end; what a failing one said is what the test says."""
    said = [process.communicate(timeout=300)[0] for process in running]
    failed = [(process.args, text) for process, text in zip(running, said, strict=True) if process.returncode]
    assert not failed, failed


def held(home):
    """Return the files of a sound home, as they count now, and when its warehouse was built."""
    lake = Lake(home.lake)
    assert verify(home).faults == []
    trials = [tuple(row.values()) for row in lake.tables("trials", ["trial_id", "batch"]).to_pylist()]
    assert len(set(trials)) == len(trials)
    if not home.warehouse.exists():
        return lake.places(), None
    with duckdb.connect(str(home.warehouse), read_only=True) as connection:
        [(built_at, *counts)] = connection.execute(
            "select built_at, (select count(*) from trials), (select count(*) from run_steps) from build_info"
        ).fetchall()
    assert all(counts), "the warehouse is not whole"
    return lake.places(), built_at


def nobody_left(group):
    """Return whether all processes of a group end within ten seconds."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    return False


def test_what_was_committed_survives_any_kill(tmp_path):
    chance, home, results = random.Random(SEED), Home(tmp_path / "home"), tmp_path / "results"
    usual_s, kills, campaigns = {}, Counter(), 0

    def begin(command):
        program = ("-c", REPARSE, str(campaigns)) if command == "reparse" else ("-m", "dropline")
        return start(home, command, *([results] if command == "ingest" else ()), program=program)

    def finish(command):
        began = time.perf_counter()
        must_succeed(begin(command))
        usual_s[command] = time.perf_counter() - began
        return held(home)

    def grow():
        """Give the next ingest a campaign, and another version of a file."""
        nonlocal campaigns
        campaigns += 1
        add_campaign(results, f"campaign{campaigns:03}")
        with chance.choice(sorted(results.glob("*/runs/**/rate*.txt"))).open("ab") as file:
            file.write(b"\n")

    grow()
    for command in ("ingest", "build", "build", "compact", "reparse", "rollback"):
        before = finish(command)
    while kills.total() < KILLS:
        command = chance.choices(list(SHARES), weights=list(SHARES.values()))[0]
        if command == "rollback":  # there must be an earlier warehouse to go back to
            before = finish("build")
        elif command == "ingest":
            grow()
        process = begin(command)
        try:
            process.wait(chance.uniform(0, 1.05) * usual_s[command])
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        kills[command] += process.returncode == -signal.SIGKILL  # one that ended before does not count
        assert nobody_left(process.pid)
        (files, _), (files_before, _) = held(home), before
        assert files_before.keys() <= files.keys()
        new = files.keys() - files_before.keys()
        added = results / f"campaign{campaigns:03}"
        whole = {(added.name, path.relative_to(added).as_posix()) for path in added.rglob("*") if path.is_file()}
        assert new in (set(), whole), f"a killed {command} brought {new}"
        before = finish(command)
    finish("build")
    assert {campaign for campaign, _ in held(home)[0]} == {path.name for path in results.iterdir()}


def test_eight_ingests_and_a_build_at_once_bring_every_trial_once(tmp_path):
    home, results = Home(tmp_path / "home"), tmp_path / "results"
    for number in range(6):
        add_campaign(results, f"campaign{number}")
    paths = [results, results, *results.iterdir()]
    must_succeed(*(start(home, "ingest", path) for path in paths), start(home, "build"), start(home, "compact"))
    rows = Lake(home.lake).tables("trials", ["campaign", "source_path"]).to_pylist()
    found = Counter(tuple(row.values()) for row in rows)
    assert (len(found), {*found.values()}) == (6 * 7, {1})
    must_succeed(start(home, "build"))
    with duckdb.connect(str(home.warehouse), read_only=True) as connection:
        assert connection.execute("select count(*), count(distinct trial_id) from trials").fetchone() == (42, 42)
    assert verify(home).faults == []
