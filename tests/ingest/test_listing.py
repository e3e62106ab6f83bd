"""Files are read in parts of bounded size, in their order."""

import os
from pathlib import Path

import pytest

from dropline.ingest import listing
from dropline.ingest.files import look, walk
from dropline.ingest.listing import gathered, listings


@pytest.fixture
def items(tree):
    """All files of a campaign, one of which is empty and one has a name that is no text."""
    (tree / "empty.txt").touch()
    Path(os.fsdecode(os.fsencode(tree) + b"/name\xff.txt")).write_text("x")
    (items,) = walk([tree])
    look(items)
    return items


def every(parts):
    return [item for part in parts for item in part.items]


@pytest.mark.parametrize(
    ("most_files", "most_bytes"), [(1, 10**9), (3, 10**9), (10**9, 3000), (7, 2000), (2000, 10**9)]
)
def test_large_scopes_are_cut_into_parts_within_the_limits(items, monkeypatch, most_files, most_bytes):
    monkeypatch.setattr(listing, "MOST_FILES", most_files)
    monkeypatch.setattr(listing, "MOST_BYTES", most_bytes)
    parts = list(listings(items))
    assert [item.path for item in every(parts)] == [item.path for item in items]
    assert sum(part.size_bytes for part in parts) == sum(item.size for item in items)
    assert all(len(part.items) <= most_files for part in parts)
    assert all(sum(item.size for item in part.items[:-1]) < most_bytes for part in parts)


def test_small_parts_are_one_task_as_far_as_they_keep_to_the_limits(items, monkeypatch):
    parts = [part for item in items for part in listings([item])]
    assert list(gathered(parts)) == [parts]
    monkeypatch.setattr(listing, "MOST_FILES", 4)
    tasks = list(gathered(parts))
    assert [part for task in tasks for part in task] == parts
    assert {len(task) for task in tasks[:-1]} == {4}
    monkeypatch.setattr(listing, "MOST_BYTES", 1)
    assert all(len(task) == 1 or sum(part.size_bytes for part in task) <= 1 for task in gathered(parts))
    assert list(gathered([])) == []
