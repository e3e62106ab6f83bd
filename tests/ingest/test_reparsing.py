"""What was ingested once can be read again: changes supersede, sameness writes nothing, nothing is lost."""

import json
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from dropline.ingest import formats, machines, ramps
from dropline.ingest.campaign import CampaignError
from dropline.ingest.formats import Reject, Report, perfdhcp, perfdhcp_forms
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.ingest.reparsing import rejects, rejects_text, reparse
from dropline.ingest.servers import kea
from tests.ingest.conftest import CAMPAIGN, CONFIGURATION, EXAMPLE, OUTPUT
from tests.lakes import leftovers, rows

CAPTURES = Path(__file__).parents[1] / "captures" / "perfdhcp"


def current(lake, table):
    """The rows of current versions, found as the warehouse finds them."""
    newest = {(r["campaign"], r["source_path"]): r["batch"] for r in rows(lake, "raw_files")}
    return [r for r in rows(lake, table) if newest[r["campaign"], r["source_path"]] == r["batch"]]


def read_otherwise(monkeypatch, change):
    """Make the perfdhcp reader pass each of its reports through `change(data, report)`."""
    parse = perfdhcp.parse
    monkeypatch.setattr(ramps.Ramps, "outcomes", lambda *_: {})  # it is asked about every file
    monkeypatch.setattr(perfdhcp, "parse", lambda data: [change(data, part) for part in parse(data)])


def refuse_740(data, part):
    return Reject(1, "too hard", "wait for a better reader") if b"-r 740" in data else part


def count_one_more(data, part):
    if b"-r 740" in data:
        part.facts["sent"] += 1
    return part


def change_clients(data, part):
    part.facts["clients"] = 12345
    return part


def with_machine(folder):
    shutil.copytree(EXAMPLE / "machine", folder / "machine")
    return folder


@pytest.mark.parametrize("calls", ["one by one", "together"])
def test_unchanged_readers_change_nothing(calls, tree, bare, lake):
    paths = [tree, with_machine(bare), CAPTURES]
    for call in [paths] if calls == "together" else [[path] for path in (tree / "runs", tree / "configs", *paths)]:
        ingest(call, lake)
    batches = lake.batches()
    told = reparse(lake)
    assert (told.batch, told.changes) == (None, [])
    assert told.files + told.without_bytes == len(lake.current_files()) > 0
    assert told.text() == f"{told.files} files read again; nothing changes"
    assert lake.batches() == batches
    assert not leftovers(lake)


def test_an_empty_lake_has_no_history_and_no_rejects(tmp_path):
    none = Lake(tmp_path / "none")
    assert reparse(none).text() == "0 files read again; nothing changes"
    assert rejects_text(rejects(none)) == "nothing is rejected"
    assert not none.root.exists()


def test_a_better_reader_turns_a_reject_into_trials_with_all_that_stands_around_them(tree, lake, monkeypatch):
    fresh = Lake.create(lake.root.with_name("fresh"))
    ingest([tree], fresh)
    with monkeypatch.context() as patch:
        read_otherwise(patch, refuse_740)
        assert ingest([tree], lake).trials == 6
    told = reparse(lake)
    assert [
        (c.source_path, c.was, c.now, c.counts["trials_added"], c.counts["rejects_removed"]) for c in told.changes
    ] == [(OUTPUT, "rejected", "trials", 1, 1)]
    assert told.rescued == told.changes
    assert told.lost == []
    assert f"{CAMPAIGN}: {OUTPUT}: 1 trial added, 1 reject removed" in told.text()
    assert "1 rejected files now give trials" in told.text()
    assert told.batch == lake.batches()[-1]
    assert current(lake, "rejects") == []
    (expected,) = rows(fresh, "trials", source_path=OUTPUT)
    assert [t | {"batch": expected["batch"]} for t in rows(lake, "trials", source_path=OUTPUT)] == [expected]
    for table in ("exchanges", "intervals", "observations"):
        wanted = [r | {"batch": told.batch} for r in rows(fresh, table, trial_id=expected["trial_id"])]
        assert rows(lake, table, trial_id=expected["trial_id"]) == wanted
        assert wanted
    assert len(rows(lake, "rejects")) == 1, "the old version stays readable"
    assert reparse(lake).batch is None
    assert ingest([tree], lake).batch is None


def test_a_stricter_reader_takes_trials_back(tree, lake, monkeypatch):
    ingest([tree], lake)
    read_otherwise(monkeypatch, refuse_740)
    told = reparse(lake)
    assert [change.source_path for change in told.lost] == [OUTPUT]
    assert told.changes[0].counts == Counter(trials_removed=1, rejects_added=1)
    assert len(current(lake, "trials")) == 6
    assert [row["reason"] for row in current(lake, "rejects")] == ["too hard"]
    (raw,) = rows(lake, "raw_files", batch=told.batch)
    assert raw["content"] == (tree / OUTPUT).read_bytes()
    (first,) = rows(lake, "raw_files", batch=lake.batches()[0], source_path=OUTPUT)
    assert raw["modified_at"] == first["modified_at"]


def test_a_changed_value_is_counted_and_supersedes(tree, lake, monkeypatch):
    ingest([tree], lake)
    (before,) = rows(lake, "trials", source_path=OUTPUT)
    read_otherwise(monkeypatch, count_one_more)
    steps = []
    told = reparse(lake, progress=lambda *step: steps.append(step))
    assert steps == [(number, told.files) for number in range(told.files)]
    assert f"changed  {CAMPAIGN}: {OUTPUT}: 1 trial changed" in told.text()
    assert told.changes[0].counts == Counter(trials_changed=1)
    trials = current(lake, "trials")
    assert len(trials) == 7
    (after,) = [trial for trial in trials if trial["source_path"] == OUTPUT]
    assert after == before | {"sent": before["sent"] + 1, "batch": told.batch}
    exchanges = Counter(row["batch"] for row in rows(lake, "exchanges", trial_id=before["trial_id"]))
    assert exchanges == {before["batch"]: 2, told.batch: 2}


def test_a_changed_row_below_a_trial_changes_the_trial(bare, lake, monkeypatch):
    def slower(data, part):
        part.exchanges[1]["max_delay_ms"] = 1e6
        part.intervals = {name: column[:-1] for name, column in part.intervals.items()}
        return part

    ingest([bare], lake)
    read_otherwise(monkeypatch, slower)
    assert [change.counts["trials_changed"] for change in reparse(lake).changes] == [1, 1]


def test_a_new_reader_finds_trials_in_what_nobody_knew_with_its_sidecar_and_machine(bare, lake, monkeypatch):
    class Toy:
        NAME = "toy"

        def sniff(self, head):
            return head.startswith(b"TOY ")

        def parse(self, data):
            yield Report(1, {"achieved_rate": float(data[4:]), "completed": True})

    with_machine(bare)
    (bare / "rep1" / "one.txt").write_text("TOY 17")
    (bare / "rep1" / "one.json").write_text(json.dumps({"campaign": "c6", "backend": "mysql"}))
    assert ingest([bare], lake).rejected == 1
    monkeypatch.setattr(formats, "READERS", (*formats.READERS, Toy()))
    assert [(c.campaign, c.source_path) for c in reparse(lake).rescued] == [("c6", "rep1/one.txt")]
    (trial,) = rows(lake, "trials", tool="toy")
    assert (trial["achieved_rate"], trial["backend"], trial["campaign"]) == (17, "mysql", "c6")
    assert trial["host_id"] == rows(lake, "hosts")[0]["host_id"]
    assert reparse(lake).changes == []
    assert ingest([bare], lake).trials == 0


def test_a_reader_that_comes_later_finds_what_an_ingest_finds_today(tree, bare, lake, monkeypatch):
    paths = [tree, with_machine(bare), CAPTURES]
    today = Lake.create(lake.root.with_name("today"))
    ingest(paths, today)
    with monkeypatch.context() as patch:
        patch.setattr(formats, "READERS", ())
        patch.setattr(perfdhcp_forms, "forms", lambda texts: [None] * len(texts))
        assert ingest(paths, lake).trials == 0
    told = reparse(lake)

    def found(where):
        return {t["trial_id"]: t | {"batch": ""} for t in current(where, "trials")}

    assert found(lake) == found(today)
    assert sum(change.counts["trials_added"] for change in told.changes) == len(found(today)) > 0
    assert ingest(paths, lake).trials == 0


def test_a_better_reader_of_configurations_changes_the_trials_that_they_explain(tree, lake, monkeypatch):
    ingest([tree], lake)
    parse = kea.parse
    monkeypatch.setattr(kea, "parse", lambda data: parse(data) | {"packet_queue_size": 77})
    told = reparse(lake)
    configs = {path.name for path in (tree / "configs").iterdir() if b"Dhcp" in path.read_bytes()}
    written = {row["source_path"] for row in rows(lake, "server_configs", batch=told.batch)}
    assert written <= {f"configs/{name}" for name in configs}
    assert CONFIGURATION in written
    assert [trial["packet_queue_size"] for trial in rows(lake, "trials", batch=told.batch)] == [77] * 7


def test_better_machine_facts_give_a_new_host_and_its_trials_follow(tree, lake, monkeypatch):
    ingest([tree], lake)
    (before,) = rows(lake, "hosts")
    host = machines.host

    def better(files):
        row, faults = host(files)
        return row | {"host_id": "better", "nic_model": "X540"}, faults

    monkeypatch.setattr(machines, "host", better)
    told = reparse(lake)
    (after,) = rows(lake, "hosts", batch=told.batch)
    assert after == before | {"batch": told.batch, "host_id": "better", "nic_model": "X540"}
    assert {trial["host_id"] for trial in current(lake, "trials")} == {"better"}
    assert reparse(lake).changes == []


def test_a_batch_of_reread_files_does_not_mix_up_what_came_apart(bare, tree, lake, monkeypatch):
    """All campaigns lie in one batch then, although they never were ingested together."""
    ingest([with_machine(bare)], lake)
    ingest([tree], lake)
    hosts = {trial["trial_id"]: trial["host_id"] for trial in current(lake, "trials")}
    assert None not in hosts.values()
    for clients in (1, 2):
        read_otherwise(monkeypatch, lambda data, part, n=clients: part.facts.update(clients=n) or part)
        told = reparse(lake)
        assert (len(told.changes), told.batch.endswith("reparse")) == (9, True)
        assert all(change.counts == Counter(trials_changed=1) for change in told.changes)
    assert {trial["trial_id"]: trial["host_id"] for trial in current(lake, "trials")} == hosts


def test_what_another_ingest_brought_is_not_joined(bare, tree, lake):
    """Another campaign's kea.conf is not the one that a sidecar names, even though none was delivered."""
    sidecar = bare / "rep1" / "rate740.json"
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"config": CONFIGURATION, "config_sha256": None}))
    ingest([bare], lake)
    ingest([tree], lake)
    assert reparse(lake).changes == []
    (trial,) = rows(lake, "trials", campaign="c6", source_path="rep1/rate740.txt")
    assert trial["server_config_id"] is None


def test_a_configuration_or_machine_that_was_renamed_since_is_still_one(tree, lake):
    for sidecar in (tree / "runs").rglob("*.json"):
        sidecar.unlink()
    run = tree / "runs" / "v4_st_memfile_hot-standby"
    shutil.move(tree / CONFIGURATION, run / "kea.conf")
    ingest([tree], lake)
    (run / "kea.conf").rename(run / "kea-dhcp4.conf")
    (tree / "machine").rename(tree / "host")
    ingest([tree], lake)
    reparse(lake)
    trials = current(lake, "trials")
    assert len({trial["server_config_id"] for trial in trials} | {None}) == 2
    assert len({trial["host_id"] for trial in trials} | {None}) == 2
    assert reparse(lake).changes == []


def test_files_whose_bytes_were_never_had_stay_as_they_are(bare, lake, monkeypatch):
    os.mkfifo(bare / "pipe.txt")
    sidecar = bare / "rep1" / "rate740.json"
    sidecar.write_text(sidecar.read_text() + " " * 2**20)
    assert ingest([bare], lake).rejected == 2
    read_otherwise(monkeypatch, count_one_more)
    told = reparse(lake)
    assert (told.without_bytes, len(told.changes)) == (2, 1)
    assert "2 without stored bytes left as they are" in told.text()
    assert len(rows(lake, "rejects")) == 2
    assert rows(lake, "trials", batch=told.batch)[0]["warnings"][-1].startswith("sidecar rep1/rate740.json cannot")


def test_a_kept_campaign_yaml_that_is_not_understood_any_more_stops_before_anything_is_written(tree, lake, monkeypatch):
    ingest([tree], lake)
    monkeypatch.setattr("dropline.ingest.campaign.MAX_BYTES", 10)
    with pytest.raises(CampaignError, match=r"campaign\.yaml of kea-2\.2-ha as kept in the lake"):
        reparse(lake)
    assert len(lake.batches()) == 1


def test_contents_are_read_by_row_group_and_never_held_all_at_once(tree, lake, monkeypatch):
    monkeypatch.setattr("dropline.ingest.parquet.GROUP_ROWS", 4)
    monkeypatch.setattr("dropline.ingest.loader.MOST_FILES", 4)
    ingest([tree], lake)
    asked = Counter()
    contents = Lake.contents
    monkeypatch.setattr(Lake, "contents", lambda *place: asked.update([place[1:]]) or contents(*place))
    read_otherwise(monkeypatch, count_one_more)
    assert len(reparse(lake).changes) == 1
    assert len(asked) > 5
    assert max(asked.values()) <= 3, "once to recognise, once to read, and once more where a sidecar lies elsewhere"


def test_a_version_that_an_ingest_brings_meanwhile_is_not_superseded_by_old_bytes(tree, lake, monkeypatch):
    ingest([tree], lake)
    read_otherwise(monkeypatch, change_clients)

    def meddle(done, total):
        if done == total - 1:
            (tree / OUTPUT).write_bytes((tree / OUTPUT).read_bytes().replace(b"2219", b"2220"))
            assert ingest([tree], lake).batch

    told = reparse(lake, progress=meddle)
    assert (told.overtaken, len(told.changes)) == (1, 6)
    kept = lake.current_files()[CAMPAIGN, OUTPUT]
    assert b"2220" in next(r["content"] for r in rows(lake, "raw_files", sha256=kept.sha256))
    assert OUTPUT not in {change.source_path for change in told.changes}
    trials = current(lake, "trials")
    assert len(trials) == len({trial["trial_id"] for trial in trials}) == 7
    assert "left to another process" in told.text()


def test_rejects_are_those_of_current_versions_in_order(bare, lake):
    (bare / "b.bin").write_bytes(b"\0\1")
    (bare / "a\x1b[2J.bin").write_bytes(b"\0\1")
    output = bare / "rep1" / "rate740.txt"
    whole = output.read_bytes()
    output.write_bytes(whole[:300])
    ingest([bare], lake)
    assert rejects(lake)["source_path"].to_pylist() == ["a\x1b[2J.bin", "b.bin", "rep1/rate740.txt"]
    output.write_bytes(whole)
    ingest([bare], lake)
    found = rejects(lake)
    assert found.column_names == ["campaign", "source_path", "line", "reason", "hint"]
    assert found["source_path"].to_pylist() == ["a\x1b[2J.bin", "b.bin"]
    text = rejects_text(found)
    assert "bare: b.bin, line 1: not recognised" in text
    assert "\n    -> check that it is complete" in text
    assert text.endswith("\n2 rejects in 2 files")
    assert "\x1b" not in text
