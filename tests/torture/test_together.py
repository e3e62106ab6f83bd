"""Many at once, and a clock that steps back: each trial is there once, whatever the order."""

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import duckdb

from dropline.ingest.lake import Lake
from dropline.paths import Home

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "kea-2.2-ha"
RUN = "runs/v4_st_memfile_hot-standby/rep1"

# Each call believes that it is a year earlier than the call before.
IN_THE_PAST = """
import datetime, sys
import dropline.ingest.lake
years = int(sys.argv[1])
class Past(datetime.datetime):
    @classmethod
    def now(cls, zone=None):
        return super().now(zone) - datetime.timedelta(days=365 * years)
dropline.ingest.lake.datetime = Past
sys.argv = ["dropline", *sys.argv[2:]]
from dropline.cli import main
main()
"""


def tree(folder, name):
    """A campaign of one run, seven trials."""
    shutil.copytree(EXAMPLE / RUN, folder / name / RUN)
    described = (EXAMPLE / "campaign.yaml").read_text("utf-8").replace("kea-2.2-ha", name)
    (folder / name / "campaign.yaml").write_text(described, "utf-8")
    return folder / name


def start(home, *arguments):
    command = [sys.executable, "-m", "dropline", "--home", str(home.root), *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def must_succeed(*running):
    """Let all of them end; what a failing one said is what the test says."""
    said = [process.communicate(timeout=300)[0] for process in running]
    failed = [
        f"dropline {' '.join(process.args[4:])} ended with {process.returncode}: {text}"
        for process, text in zip(running, said, strict=True)
        if process.returncode
    ]
    assert not failed, "\n".join(failed)


def trials(home):
    rows = Lake(home.lake).tables("trials", ["campaign", "source_path"]).to_pylist()
    return Counter((row["campaign"], row["source_path"]) for row in rows)


def test_eight_ingests_and_a_build_at_once_bring_every_trial_once(tmp_path):
    home = Home(tmp_path / "home")
    trees = [tree(tmp_path / "results", f"campaign{n}") for n in range(6)]
    calls = [str(trees[0].parent), str(trees[0].parent), *map(str, trees)]
    must_succeed(*(start(home, "ingest", path) for path in calls), start(home, "build"))
    found = trials(home)
    assert len(found) == 6 * 7
    assert set(found.values()) == {1}

    must_succeed(start(home, "build"))
    must_succeed(start(home, "verify"))
    with duckdb.connect(str(home.warehouse), read_only=True) as connection:
        assert connection.execute("select count(*), count(distinct trial_id) from trials").fetchone() == (42, 42)


def test_a_clock_that_steps_back_changes_nothing(tmp_path):
    home = Home(tmp_path / "home")
    results = tree(tmp_path, "campaign")
    trial = sorted((results / RUN).glob("*.txt"))[0]
    for year in range(3):
        trial.write_bytes(trial.read_bytes() + b"\n")
        command = [sys.executable, "-c", IN_THE_PAST, str(year), "--home", str(home.root), "ingest", str(results)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    lake = Lake(home.lake)
    years = [int(batch.partition("-")[2][:4]) for batch in lake.batches()]
    assert years == sorted(years, reverse=True), "the names tell the time of the clock"
    assert len(set(years)) == 3
    found = trials(home)
    assert found.pop(("campaign", f"{RUN}/{trial.name}")) == 3
    assert set(found.values()) == {1}
    current = lake.current_files()["campaign", f"{RUN}/{trial.name}"]
    assert (
        current.sha256
        == lake.tables("raw_files", ["sha256", "source_path"])
        .to_pandas()
        .query(f"source_path == '{RUN}/{trial.name}'")["sha256"]
        .iloc[-1]
    ), "the newest is what came last"
