"""Fixtures that several rooms share: homes with real data, built once a session."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from dropline import pipeline
from dropline.ingest.intake import ingest
from dropline.ingest.lake import Lake
from dropline.paths import Home

ROOT = Path(__file__).parent.parent
KEA = ("kea-2.2-backends", "kea-2.2-ha")

# On a developer's machine the property tests look for new cases each time; CI judges a change by fixed ones.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("developer", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "developer")

# What a shell starts in the background ignores Ctrl-C, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def warehouse_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the bundled examples of Kea ingested and built. Read only: a test that writes makes its own."""
    home = Home.chosen(tmp_path_factory.mktemp("home"))
    summary = ingest([ROOT / "examples" / name for name in KEA], Lake.create(home.lake))
    assert not summary.rejects
    pipeline.build(home)
    return home.root


@pytest.fixture(scope="session")
def examples_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home as `make up` makes it, with all bundled examples. Read only."""
    home = Home.chosen(tmp_path_factory.mktemp("examples"))
    summary = ingest([ROOT / "examples"], Lake.create(home.lake))
    assert not summary.rejects
    pipeline.build(home)
    return home.root


@pytest.fixture(scope="session")
def published_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which nothing was ingested: only the published figures."""
    home = Home.chosen(tmp_path_factory.mktemp("published"))
    pipeline.build(home)
    return home.root
