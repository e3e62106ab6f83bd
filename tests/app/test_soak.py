"""Several visitors at once, over real websockets; and that the soak would notice what it looks for."""

import asyncio
import random
import shutil
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks import soak
from dropline.app import widgets


def test_visitors_do_not_disturb_each_other(warehouse_home):
    done = asyncio.run(soak.soak(warehouse_home, users=5, seconds=20, publications=False))
    assert done.seen.troubles == []
    assert done.log == ""
    assert len(done.seen.took) > 10
    assert len({page for page, _, _ in done.seen.took}) > 4, "different pages"
    assert done.seen.heavy, "while somebody asks what the console has to end"
    assert max(took for _, _, took in done.seen.took) < 15
    assert 50 < done.memory[-1][1] < 1500
    assert done.seen.batches, "the home page says what the newest batch is"


def looks(begin, end, minutes=2, noise=0, seed=1):
    """Memory that grows evenly, looked at 121 times; its noise outlasts a look, as that of a server does."""
    chance, off, found = random.Random(seed), 0.0, []
    for place in range(121):
        off = 0.5 * off + chance.gauss(0, noise)
        found.append((60 * minutes * place / 120, begin + (end - begin) * place / 120 + off))
    return found


@pytest.mark.parametrize(
    ("memory", "troubles", "log", "said"),
    [
        (looks(300, 301, minutes=10, noise=5), [], "", []),
        (looks(300, 370, minutes=10, noise=5), [], "", ["memory may have grown by"]),
        (looks(300, 300, minutes=10, noise=100), [], "", ["memory may have grown by"]),
        (looks(300, 300), ["sql: KeyError: hidden"], "", ["errors: 1"]),
        (looks(300, 300), [], "Traceback\n", ["the server wrote to its log: Traceback"]),
    ],
    ids=["flat", "growing", "not shown to be flat", "an error", "a line in the log"],
)
def test_a_soak_fails_when_a_promise_is_broken(memory, troubles, log, said):
    found = soak.faults(soak.Soak(30, 600, soak.Seen(troubles=troubles), memory, [], [1], log))
    assert len(found) == len(said)
    assert all(one.startswith(begin) for one, begin in zip(found, said, strict=True))


def replaced_but_open(file):
    """How often this process has a file open that no longer stands under its name."""
    links = [each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return links.count(Path(f"{file} (deleted)"))


def test_a_replaced_publication_is_read_to_the_end_and_then_closed(warehouse_home, tmp_path, monkeypatch):
    monkeypatch.setenv("DROPLINE_HOME", str(tmp_path))
    file = Path(shutil.copy(warehouse_home / "warehouse.duckdb", tmp_path))
    before = widgets.open_warehouse()
    shutil.copy(file, tmp_path / "next").rename(file)
    after = widgets.open_warehouse()
    assert before.identity.inode != after.identity.inode
    assert replaced_but_open(file) == 1
    trials = "select count(*) as trials from trials"
    assert before.query(trials) == after.query(trials)
    del before
    assert replaced_but_open(file) == 0


@pytest.mark.parametrize(
    ("status", "last"),
    [
        (ForwardMsg.FINISHED_SUCCESSFULLY, True),
        (ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY, True),
        (ForwardMsg.FINISHED_WITH_COMPILE_ERROR, True),
        (ForwardMsg.FINISHED_EARLY_FOR_RERUN, False),
    ],
)
def test_a_page_that_runs_anew_for_a_publication_is_waited_for(status, last):
    assert soak.is_last(ForwardMsg(script_finished=status)) is last
    assert not soak.is_last(ForwardMsg())
