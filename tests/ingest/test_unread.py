"""Files that did not change are not read again, and the lake is the same as if they were; unread keys of sidecars."""

import hashlib
import json
import os
import shutil
import time
from pathlib import Path

import pytest

from dropline.ingest import change_detection
from dropline.ingest.loader import ingest
from tests.ingest.conftest import CONFIGURATION, OUTPUT

HOUR_S = 3600


@pytest.fixture
def opened(monkeypatch):
    """The names of the files that were opened since it was cleared."""
    names = []
    plain = os.open
    monkeypatch.setattr(os, "open", lambda path, *how, **at: names.append(Path(path).name) or plain(path, *how, **at))
    return names


def age(folder, seconds=HOUR_S):
    """Make all files look as if they had been written some time ago."""
    for file in folder.rglob("*"):
        if file.is_file():
            os.utime(file, (time.time() - seconds,) * 2)


def alter(file, old=b"740", new=b"741"):
    """Change the bytes of a file, but neither their number nor its time."""
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(old, new))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def counts(summary):
    return summary.seen, summary.ingested, summary.skipped, summary.rejected


def read_of(opened, folder):
    return len({*opened} & {file.name for file in folder.rglob("*") if file.is_file()})


def test_of_an_unchanged_folder_only_campaign_yaml_is_read_and_the_summary_is_the_same(tree, lake, opened):
    (tree / "strange.bin").write_bytes(b"\x00\x01")
    (tree / "cut.txt").write_bytes((tree / OUTPUT).read_bytes()[:400])
    (tree / "twice.txt").write_bytes((tree / OUTPUT).read_bytes() + (tree / OUTPUT).read_bytes()[:400])
    age(tree)
    first = ingest([tree], lake)
    opened.clear()
    again = ingest([tree], lake)
    assert read_of(opened, tree) == 1
    assert counts(again) == (first.seen, 0, first.seen - first.rejected, first.rejected)
    assert (again.campaigns, again.batch, again.trials) == (first.campaigns, None, 0)
    assert again.rejects == first.rejects
    assert [row["source_path"] for row in again.rejects] == ["cut.txt", "strange.bin", "twice.txt"]
    assert ingest([tree], lake, reread=True).rejects == first.rejects


def test_a_touched_file_is_read_with_its_folder_and_skipped(tree, lake, opened):
    age(tree)
    ingest([tree], lake)
    (tree / OUTPUT).touch()
    opened.clear()
    assert ingest([tree], lake).ingested == 0
    assert read_of(opened, tree) == len({file.name for file in tree.rglob("*") if file.is_file()})


@pytest.mark.parametrize(("seconds", "seen"), [(0, True), (HOUR_S, False)], ids=["young", "old"])
def test_a_time_says_nothing_of_a_file_that_changed_while_it_was_ingested(seconds, seen, tree, lake):
    age(tree, seconds)
    ingest([tree], lake)
    alter(tree / OUTPUT)
    assert (ingest([tree], lake).trials == 1) is seen
    assert (ingest([tree], lake, reread=True).trials == 1) is not seen


def test_a_file_that_is_added_can_explain_the_others(tree, lake):
    sidecar = (tree / OUTPUT).with_suffix(".json")
    said = sidecar.read_bytes()
    sidecar.unlink()
    age(tree)
    ingest([tree], lake)
    sidecar.write_bytes(said)
    summary = ingest([tree], lake)
    assert (summary.ingested, summary.trials) == (2, 1)


def test_of_files_that_are_gone_those_matter_that_explained_others(tree, lake, opened):
    age(tree)
    seen = ingest([tree], lake).seen
    (tree / OUTPUT).unlink()
    opened.clear()
    assert counts(ingest([tree], lake)) == (seen - 1, 0, seen - 1, 0)
    assert read_of(opened, tree) == 1
    other = tree / OUTPUT.replace("740", "1050")
    other.with_suffix(".json").unlink()
    assert ingest([tree], lake).trials == 1


def test_counters_of_a_scope_that_changed_do_not_make_others_be_read(tree, lake, opened, tmp_path, monkeypatch):
    monkeypatch.setattr(change_detection, "_CAMPAIGNS", 1)  # the lake is asked for one at a time
    monkeypatch.setattr(change_detection, "_OPEN_FILES", 1)
    other = tmp_path / "other"
    shutil.copytree(tree, other)
    (other / "campaign.yaml").write_text("campaign: other\n")
    age(tmp_path)
    ingest([tree, other], lake)
    alter(other / OUTPUT)
    (other / OUTPUT).touch()
    opened.clear()
    summary = ingest([tree, other], lake)
    assert (summary.ingested, summary.campaigns) == (1, {"kea-2.2-ha", "other"})
    assert opened.count("rate740.txt") == 1


@pytest.fixture
def apart(tree, tmp_path):
    """Results without a campaign.yaml, and elsewhere the configuration that their sidecars name by its digest."""
    results, configs = tmp_path / "results", tmp_path / "settings"
    shutil.copytree(tree / "runs", results)
    configs.mkdir()
    shutil.copy(tree / CONFIGURATION, configs / "server.json")
    digest = hashlib.sha256((configs / "server.json").read_bytes()).hexdigest()
    for sidecar in results.rglob("*.json"):
        named = {"config": "elsewhere.json", "config_sha256": digest}
        sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | named))
    age(tmp_path)
    return results, configs


def servers(lake):
    """The server configuration of the newest version of every trial."""
    trials = lake.tables("trials", ["source_path", "server_config_id"]).to_pylist()
    return {trial["source_path"]: trial["server_config_id"] for trial in trials}.values()


def test_a_configuration_that_another_folder_brings_is_joined_to_what_names_it(apart, lake):
    results, configs = apart
    assert ingest([results], lake).trials == 7
    assert set(servers(lake)) == {None}
    assert ingest([results, configs], lake).trials == 7
    assert None not in servers(lake)
    assert ingest([results, configs], lake).batch is None


def test_configurations_of_a_folder_that_is_not_read_are_still_found(apart, lake, opened):
    results, configs = apart
    ingest([results, configs], lake)
    output = next(results.rglob("rate740.txt"))
    alter(output)
    output.touch()
    opened.clear()
    assert ingest([results, configs], lake).trials == 1
    assert "server.json" not in opened
    assert None not in servers(lake)


def test_folders_of_one_name_are_read(bare, lake, tmp_path):
    other = tmp_path / "other" / "bare"
    shutil.copytree(bare, other)
    age(tmp_path)
    first, again = ingest([bare, other], lake), ingest([bare, other], lake)
    assert (counts(first), counts(again)) == ((8, 4, 0, 4), (8, 0, 4, 4))
    assert first.rejects == again.rejects


def test_a_folder_that_is_read_takes_no_place_of_one_that_is_not(tree, bare, lake):
    """Its sidecars name the campaign of the other, and one of its files has the path of another there."""
    claimed = bare / OUTPUT
    claimed.parent.mkdir(parents=True)
    for ending in (".txt", ".json"):
        shutil.move(bare / "rep1" / f"rate740{ending}", claimed.with_suffix(ending))
    sidecar = claimed.with_suffix(".json")
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"campaign": "kea-2.2-ha"}))
    alter(claimed)
    age(tree)
    ingest([tree], lake)
    summary = ingest([tree, bare], lake)
    assert {row["source_path"] for row in summary.rejects} == {OUTPUT, OUTPUT.replace(".txt", ".json")}
    assert all(row["reason"].startswith("another file of this ingest") for row in summary.rejects)


def test_keys_of_sidecars_that_no_column_has_are_kept_if_they_differ_at_any_depth(tree, lake):
    for at, sidecar in enumerate(sorted((tree / "runs").rglob("*.json"))):
        own = {"server": {"pool": {"pinned": at < 4}}, "config": ["fast", "slow"][at % 2], "other": {"is": "same"}}
        sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | own))
    ingest([tree], lake)
    kept = {json.loads(said)["unread"] for said in lake.tables("trials", ["details"])["details"].to_pylist()}
    assert (len(kept), "config=slow, server.pool.pinned=false" in kept) == (4, True)
