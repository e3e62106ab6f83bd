"""Several processes do the work of one: the same rows, in the same order, and nothing is left of them."""

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from dropline.errors import DroplineError
from dropline.ingest import loader, ramps
from dropline.ingest.files import walk
from dropline.ingest.formats import perfdhcp
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.ingest.parallel import in_order
from dropline.ingest.schema import TABLES
from tests.lakes import leftovers

ROOT = Path(__file__).parents[2]
CAPTURES = ROOT / "tests" / "captures" / "perfdhcp" / "odd"


@pytest.fixture
def shared(monkeypatch):
    """Small parts, done by two workers on any machine."""
    monkeypatch.setattr(loader, "MOST_FILES", 3)
    monkeypatch.setattr(loader, "in_order", partial(in_order, workers=2))


def rows(lake):
    """All rows of all tables but the batch, in a fixed order."""
    return {
        name: sorted(
            json.dumps(row, default=str, sort_keys=True) for row in lake.tables(name).drop_columns("batch").to_pylist()
        )
        for name in TABLES
    }


@pytest.mark.parametrize(
    ("most_files", "most_bytes"), [(1, 10**9), (3, 10**9), (10**9, 3000), (7, 2000), (2000, 10**9)]
)
def test_tasks_are_as_large_as_the_limits_allow_and_keep_the_order(tree, monkeypatch, most_files, most_bytes):
    monkeypatch.setattr(loader, "MOST_FILES", most_files)
    monkeypatch.setattr(loader, "MOST_BYTES", most_bytes)
    (items,) = walk([tree])
    tasks = [*loader.in_tasks(items)]
    assert [item for task in tasks for item in task] == items
    for task, following in zip(tasks, [*tasks[1:], []], strict=True):
        size_bytes = sum(item.size for item in task)
        assert len(task) <= most_files
        assert len(task) == 1 or size_bytes <= most_bytes
        assert not following or len(task) == most_files or size_bytes + following[0].size > most_bytes
    assert [*loader.in_tasks([])] == []


def test_results_come_in_the_order_of_the_tasks_whoever_does_them():
    def work(task):
        time.sleep(0.002 * (task % 3))
        return task, os.getpid()

    told = list(in_order(work, range(20), workers=3))
    assert [task for task, _ in told] == list(range(20))
    assert len({process for _, process in told}) == 3
    assert os.getpid() not in {process for _, process in told}


def test_tables_come_whole_whatever_the_size_of_those_before_them():
    def work(rows):
        names = [None if row % 3 else f"n{row}" for row in range(rows)]
        return {"n": pa.table({"row": list(range(rows)), "name": names})}

    sizes = [0, 1, 200_000, 200_000, 7, 0, 2]
    for rows, told in zip(sizes, in_order(work, sizes, workers=2), strict=True):
        assert told["n"].equals(work(rows)["n"])


def test_a_single_task_needs_no_other_process():
    assert list(in_order(lambda _: os.getpid(), [1], workers=2)) == [os.getpid()]
    assert list(in_order(lambda _: os.getpid(), [], workers=2)) == []


def test_workers_are_not_far_ahead_of_whoever_takes_their_results(tmp_path):
    def work(task):
        (tmp_path / str(task)).touch()
        return bytes(1_000_000)

    results = in_order(work, range(40), workers=2)
    next(results)
    time.sleep(0.3)
    assert len(list(tmp_path.iterdir())) <= 4
    results.close()


def test_what_a_task_raises_is_raised_here_and_ends_the_workers():
    def work(task):
        if task == 3:
            raise ZeroDivisionError(task)
        return task

    results = in_order(work, range(100), workers=2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ZeroDivisionError, match="3"):
        next(results)
    assert multiprocessing.active_children() == []


def test_workers_end_with_a_parent_that_is_killed():
    code = """
import os, time
from dropline.ingest.parallel import in_order

def work(task):
    os.write(1, b".")
    time.sleep(60)

list(in_order(work, range(4), workers=2))
"""
    running = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
    assert running.stdout.read(2) == b"..", "both work"
    running.kill()
    running.communicate(timeout=20)  # the output ends with the last process that could write to it


def test_several_processes_bring_the_same_rows_as_one(tree, bare, lake, tmp_path, shared, monkeypatch):
    folders = [tree, bare, CAPTURES]
    several = ingest(folders, lake)
    monkeypatch.undo()
    alone = Lake.create(tmp_path / "alone")
    one = ingest(folders, alone)
    assert rows(lake) == rows(alone)
    assert (several.text().rpartition(";")[0], several.trials) == (one.text().rpartition(";")[0], one.trials)
    assert several.campaigns == one.campaigns
    assert lake.batches() == [several.batch], "the parts are one batch"


def test_files_that_several_processes_claim_for_one_place_are_refused_as_by_one(bare, lake, tmp_path, shared):
    other = tmp_path / "other" / "bare"
    shutil.copytree(bare, other)
    summary = ingest([bare, other], lake)
    assert (summary.seen, summary.ingested, summary.rejected, summary.trials) == (8, 4, 4, 2)
    assert lake.tables("campaigns")["campaign"].to_pylist() == ["c6"]


def test_an_interrupt_among_several_processes_leaves_nothing_behind(tree, lake, shared):
    def interrupt(done, total):
        if 2 * done >= total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest([tree], lake, progress=interrupt)
    assert lake.batches() == []
    assert not leftovers(lake)
    assert multiprocessing.active_children() == []


def test_a_reader_that_takes_its_process_along_stops_the_ingest_and_leaves_nothing(tree, lake, shared, monkeypatch):

    def dying(data):
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(ramps.Ramps, "outcomes", lambda *_: {})  # it is asked about every file
    monkeypatch.setattr(perfdhcp, "parse", dying)
    with pytest.raises(DroplineError, match="ingest again"):
        ingest([tree], lake)
    assert lake.batches() == []
    assert not leftovers(lake)
    assert multiprocessing.active_children() == []
