"""Small real trees to ingest: one run of the examples, with all that stands around it."""

import shutil
from pathlib import Path

import pytest

from ingest.lake import Lake

EXAMPLE = Path(__file__).parents[2] / "examples" / "kea-2.2-ha"
RUN = "runs/v4_st_memfile_hot-standby"


@pytest.fixture
def tree(tmp_path):
    """One run of seven trials with its campaign.yaml, configurations and machine facts."""
    root = tmp_path / "kea"
    shutil.copytree(EXAMPLE / RUN, root / RUN)
    shutil.copytree(EXAMPLE / "configs", root / "configs")
    (root / "machine").mkdir()
    for name in ("hostname.txt", "lscpu.json", "meminfo.txt", "os-release.txt", "uname.txt"):
        shutil.copy(EXAMPLE / "machine" / name, root / "machine")
    shutil.copy(EXAMPLE / "campaign.yaml", root)
    return root


@pytest.fixture
def bare(tmp_path):
    """Two trials with their sidecars and nothing else; the sidecars name the campaign c6."""
    folder = tmp_path / "bare" / "rep1"
    folder.mkdir(parents=True)
    for name in ("rate740", "rate1050"):
        for ending in (".txt", ".json"):
            shutil.copy(EXAMPLE / RUN / "rep1" / (name + ending), folder)
    return folder.parent


@pytest.fixture
def lake(tmp_path):
    return Lake.create(tmp_path / "lake")
