"""Small real trees to ingest: one run of the examples, with all that stands around it."""

import shutil
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from dropline.ingest.lake import Lake
from dropline.paths import Home
from tests.buckets import SECRET, ask

EXAMPLE = Path(__file__).parents[2] / "examples" / "kea-2.2-ha"
RUN = "runs/v4_st_memfile_hot-standby"
OUTPUT = f"{RUN}/rep1/rate740.txt"
SIDECAR = OUTPUT.replace(".txt", ".json")
CONFIGURATION = "configs/v4_st_memfile_hot-standby_ha1.json"
CAMPAIGN = "kea-2.2-ha"


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


@pytest.fixture(scope="module")
def server():
    served = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    served.start()
    yield "http://{}:{}".format(*served.get_host_and_port())
    served.stop()


@pytest.fixture
def address(server, tmp_path, monkeypatch):
    """An empty bucket, and an environment that leads to it."""
    ask(server, "POST", "/moto-api/reset")
    ask(server, "PUT", "/results")
    for name, value in {
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_EC2_METADATA_DISABLED": "true",
        "DROPLINE_S3_ENDPOINT": server,
        "DROPLINE_CACHE": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    return "s3://results/team/dns"


@pytest.fixture
def machine(address, tmp_path, monkeypatch):
    """What makes the copy of the bucket on another machine, that is, in another cache."""

    def named(name):
        monkeypatch.setenv("DROPLINE_CACHE", str(tmp_path / name))
        home = Home.chosen(address)
        Lake.shared(home.lake, home.address)
        return home

    return named
