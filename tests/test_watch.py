"""A folder that is followed: what is published, when, and what is said of it."""

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dropline import pipeline, watch
from dropline.errors import DroplineError
from dropline.paths import Home
from tests.homes import asking, built

ROOT = Path(__file__).parent.parent
RUNS = ROOT / "examples/kea-2.2-ha/runs/v4_mt4_memfile_hot-standby"
FIGURES = (
    "select configuration, loss_goal, rate, ci_low, ci_high, runs from capacity where origin = 'measured' order by all"
)
TRIALS = "select source_path, offered_rate, achieved_rate, sent, received, completed from trials order by all"


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(RUNS / "rep1", tmp_path / "lab/rep1")
    return tmp_path / "lab"


def steps(monkeypatch, *actions):
    """Let the folder change by one action after the other."""

    def changes(*_):
        yield
        for action in actions:
            action()
            yield

    monkeypatch.setattr(watch, "changes", changes)


def test_a_folder_is_looked_at_once_and_after_each_change_when_it_has_settled(tmp_path, monkeypatch):
    log = []
    file = tmp_path / "sub/report.txt"
    happens = {
        1: lambda: (log.append("settled"), (tmp_path / "begun.log").touch()),
        3: lambda: (file.parent.mkdir(), file.write_text("half")),
        4: lambda: file.write_text("half and half"),  # while it settles
        9: file.unlink,
    }

    class EnoughError(Exception):
        pass

    def sleep(_):
        sleep.times += 1
        if sleep.times == 15:
            raise EnoughError
        happens.get(sleep.times, lambda: None)()

    sleep.times = 0
    monkeypatch.setattr(time, "sleep", sleep)
    with pytest.raises(EnoughError):
        for _ in watch.changes(tmp_path, 0.3):
            log.append([path.read_text() for path in tmp_path.rglob("*.txt")])
    assert log == ["settled", [], ["half and half"], []]


def test_new_changed_and_half_written_files_come_to_what_one_ingest_gives(home, folder, tmp_path, monkeypatch):
    report = sorted((RUNS / "rep2").glob("*.txt"))[0]

    def begin_a_run():
        shutil.copytree(RUNS / "rep2", folder / "rep2")
        (folder / "rep2" / report.name).write_bytes(report.read_bytes()[:300])

    steps(monkeypatch, begin_a_run, lambda: shutil.copy(report, folder / "rep2"), lambda: None)
    lines = [*watch.watch(home, folder, 0.3)]
    published = [line for line in lines if "published in" in line]
    assert [line.split("  ")[1].split(", published")[0] for line in (published[0], published[-1])] == [
        "14 files, 7 trials",
        "1 file, 1 trial",
    ]
    assert re.search("memfile multi x4 .*leases/s", published[0])
    with asking(home) as watched, asking(built(tmp_path / "at once", folder)) as at_once:
        for query in (FIGURES, TRIALS):
            assert watched(query) == at_once(query) != []


def test_what_is_refused_is_told_once_unless_it_has_only_begun_and_the_rest_is_published(home, folder, monkeypatch):
    def add(name):
        return lambda: (folder / name).write_bytes(bytes(range(256)))

    (folder / "running.txt").touch()
    steps(monkeypatch, add("noise.bin"), add("other.bin"))
    lines = [*watch.watch(home, folder, 0.3)]
    refused = [line for line in lines if line.startswith("rejected  ")]
    assert ["noise.bin" in line for line in refused] == [True, False]
    assert ["other.bin" in line for line in refused] == [False, True]


def test_a_build_that_fails_is_told_and_tried_again_with_the_next_change(home, folder, monkeypatch):
    build, failures = pipeline.build, [DroplineError("the gate stopped the build")]

    def failing_once(home):
        if failures:
            raise failures.pop()
        return build(home)

    monkeypatch.setattr(pipeline, "build", failing_once)
    steps(monkeypatch, lambda: None)
    said = [*watch.watch(home, folder, 0.3)]
    assert said[0] == "the gate stopped the build"
    assert "published in" in said[1]
    assert len(said) == 2


@pytest.mark.parametrize("during", ["the build", "the wait"])
def test_ctrl_c_ends_it_and_leaves_all_whole(home, folder, during):
    command = [sys.executable, "-u", "-m", "dropline", "--home", str(home.root), "watch", str(folder)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if during == "the wait":
        assert "published in" in running.stdout.readline()
    begun = time.monotonic()
    while not (home.root / "build/next.duckdb").exists() and not home.warehouse.exists():
        assert time.monotonic() < begun + 60
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    said, wrong = running.communicate(timeout=60)
    assert (running.returncode, wrong) == (0, "")
    assert said.endswith("Stopped. Everything published so far stays.\n")
    assert home.warehouse.exists() == (during == "the wait")
    assert not [*(home.root / "build").glob("*.duckdb*")]
    pipeline.build(home)
    with asking(home) as asked:
        assert len(asked(TRIALS)) == 7
