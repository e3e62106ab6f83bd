"""Several visitors at once, over real websockets, while a publication is replaced."""

import asyncio
import shutil
from pathlib import Path

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
