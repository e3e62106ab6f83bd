"""Kept raw files come out as they went in, and whatever they are called they stay in their folder."""

import csv
import shutil
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_lake import raw_files

from dropline.ingest.compaction import compact
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.ingest.unpack import INDEX, file_names, unpack
from tests.lakes import put


def index(folder):
    with (folder / INDEX).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("compacted", [False, True])
def test_a_tree_comes_out_as_it_went_in(tree, tmp_path, compacted):
    lake = Lake(tmp_path / "lake")
    ingest([tree], lake)
    (tree / "machine" / "hostname.txt").write_text("other\n")
    ingest([tree], lake)
    if compacted:
        compact(lake)
    written = unpack(lake, tmp_path)
    [campaign] = (tmp_path / "raw").iterdir()
    before = {file.relative_to(tree): file for file in tree.rglob("*") if file.is_file()}
    after = {file.relative_to(campaign): file for file in campaign.rglob("*") if file.is_file()}
    assert before.keys() == after.keys()
    assert len(after) == written == len(index(tmp_path))
    for path, file in after.items():
        assert file.read_bytes() == before[path].read_bytes()
        assert file.stat().st_mtime == pytest.approx(before[path].stat().st_mtime, abs=1e-5)
    again = Lake(tmp_path / "again")
    assert ingest([shutil.move(campaign, tmp_path / "kea-again")], again).trials == 7


@pytest.mark.parametrize(
    ("campaign", "path", "name"),
    [
        ("kea", "runs/rep 1/rate740.txt", "kea/runs/rep 1/rate740.txt"),
        ("käse", "läufe/é.txt", "käse/läufe/é.txt"),
        ("kea", "../../etc/passwd", "kea/.%2E/.%2E/etc/passwd"),
        ("..", "x", ".%2E/x"),
        (".", ".", "%2E/%2E"),
        ("", "/etc/passwd", "%/%/etc/passwd"),
        ("a/b", "x", "a%2Fb/x"),
        ("kea", "a\\..\\b", "kea/a%5C..%5Cb"),
        ("kea", "C:x", "kea/C%3Ax"),
        ("kea", "a\0b\n\x1b", "kea/a%00b%0A%1B"),
        ("kea", "50%", "kea/50%25"),
        ("kea", "trailing. ", "kea/trailing.%20"),
    ],
)
def test_a_name_that_is_not_safe_is_escaped(campaign, path, name):
    assert file_names([(campaign, path)]) == {(campaign, path): name}


def test_a_file_that_has_the_name_of_a_folder_stands_beside_it():
    assert sorted(file_names([("c", "a"), ("c", "a/b"), ("c", "a%")]).values()) == ["c/a%", "c/a%25", "c/a/b"]


SEGMENTS = st.sampled_from(
    ["", ".", "..", "a", "a%", "%2E", "%", "b" * 300, "b" * 299 + "c", "é" * 200, "a\0", "~", "-"]
)
PATHS = st.lists(SEGMENTS | st.text(max_size=5), min_size=1, max_size=4).map("/".join)


@given(st.lists(st.tuples(SEGMENTS | st.text(max_size=5), PATHS), max_size=8))
def test_no_name_leads_out_of_its_folder_and_no_two_are_alike(keys):
    names = file_names(keys)
    assert len(set(names.values())) == len(set(keys))
    folders = {folder for name in names.values() for folder in PurePosixPath(name).parents}
    for name in names.values():
        parts = name.split("/")
        assert not {"", ".", ".."} & set(parts)
        assert all(len(part.encode()) <= 255 and part.isprintable() for part in parts)
        assert PurePosixPath(name) not in folders


def test_hostile_names_can_be_written_and_found_by_the_index(tmp_path):
    lake = Lake(tmp_path / "lake")
    hostile = ["../../escaped", "/absolute", "a", "a/b", "x" * 300, "line\nfeed", "=1+1"]
    put(lake, raw_files=raw_files(**dict.fromkeys(hostile, "1") | {"lost": ""}))
    out = tmp_path / "out"
    out.mkdir()
    assert unpack(lake, out) == len(hostile)
    assert not (tmp_path / "escaped").exists()
    rows = {row["source_path"]: row["file"] for row in index(out)}
    assert rows.pop("lost") == ""
    assert set(rows) == set(hostile)
    for file in rows.values():
        assert (out / file).read_bytes() == b"1"
        assert (out / file).resolve().is_relative_to(out / "raw" / "c")
