"""Fixtures that several rooms share: homes with real data, built once."""

import fcntl
import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from dropline.app.warehouse import Warehouse
from tests.homes import built

ROOT = Path(__file__).parent.parent
KEA = ("kea-2.2-backends", "kea-2.2-ha")

# On a developer's machine the property tests look for new cases each time; CI judges a change by fixed ones.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("developer", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "developer")

# `make test-fast` leaves these out. What is slow builds homes of its own, kills processes or simulates at length.
SLOW = {
    "app": "claims_page compare dump escapes explore machines_page planner outages pages quality queries results run "
    "serve soak speedups sql trends try_file versions warehouse",
    "inference": "recovery changes",
    "ingest": "archives contents crash initial lake_backup lake_compaction lake_damage migration parallel "
    "perfdhcp_properties reader_properties retraction servers",
    "measure": "drive gate generator real_servers search",
    "models": "analyses answers claims clients dbt_project dnsblast dnsperf_ramp exposures fairness flat_folder "
    "ingested_figures known_process lease_accounting published_file statistics",
}
MARKS = {
    "browser": ("browser/",),
    "spark": ("spark/",),
    "s3": ("ingest/test_bucket.py",),
    "slow": (
        *("benchmarks/", "fuzz/", "gate/", "report/", "torture/", "test_"),
        *(f"{room}/test_{name}" for room, names in SLOW.items() for name in names.split()),
    ),
}


# Three files run at a time; the rooms whose tests take longest come first. To fork takes longer from a large process.
SLOWEST = ("spark", "measure", "browser", "app", "gate", "report")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their place, and begin with those that take longest."""
    for item in items:
        place = item.path.relative_to(ROOT / "tests").as_posix()
        for mark in (mark for mark, places in MARKS.items() if place.startswith(places)):
            item.add_marker(mark)
    order = {room: number for number, room in enumerate(SLOWEST)}
    items.sort(key=lambda item: order.get(item.path.parent.name, len(order)))


# What a shell starts in the background ignores Ctrl-C, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def once(factory: pytest.TempPathFactory, name: str, *folders: Path) -> Path:
    """Build a home of folders once for all the processes that test at a time, and return where it is."""
    base = factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with root.with_suffix(".lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if not lock.read():
            shutil.rmtree(root, ignore_errors=True)
            built(root, *folders, rejects=0)
            lock.write("built")
    return root


@pytest.fixture(scope="session")
def warehouse_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the bundled examples of Kea ingested and built. Read only: a test that writes makes its own."""
    return once(tmp_path_factory, "home", *(ROOT / "examples" / name for name in KEA))


@pytest.fixture(scope="session")
def warehouse(warehouse_home: Path) -> Warehouse:
    """The warehouse of these examples."""
    return Warehouse.open(warehouse_home / "warehouse.duckdb")


@pytest.fixture(scope="session")
def examples_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home as `make up` makes it, with all bundled examples. Read only."""
    return once(tmp_path_factory, "examples", ROOT / "examples")


@pytest.fixture(scope="session")
def published_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which nothing was ingested: only the published figures."""
    return once(tmp_path_factory, "published")


@pytest.fixture(scope="session")
def bare_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of outputs that only folders tell apart: no sidecar, no campaign.yaml."""
    for folder, backend in {"tuned": "memfile", "default": "mysql"}.items():
        runs = ROOT / "examples" / "kea-2.2-backends" / "runs" / f"v4_st_{backend}_none"
        shutil.copytree(runs, tmp_path_factory.getbasetemp() / "bare" / folder, ignore=shutil.ignore_patterns("*.json"))
    return once(tmp_path_factory, "bare-home", tmp_path_factory.getbasetemp() / "bare")
