"""The ingest: every file is accounted for, nothing comes twice, a new version supersedes."""

import bz2
import gzip
import json
import lzma
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
import yaml

from dropline.ingest import ramps
from dropline.ingest.campaign import CampaignError
from dropline.ingest.files import IntakeError
from dropline.ingest.formats import perfdhcp
from dropline.ingest.loader import ingest
from tests.ingest.conftest import CAMPAIGN, CONFIGURATION, OUTPUT, SIDECAR
from tests.lakes import rows

ROOT = Path(__file__).parents[2]
CASES = yaml.safe_load(Path(__file__).with_name("context.yml").read_text())


def counts(summary):
    return summary.seen, summary.ingested, summary.skipped, summary.rejected


def reasons(summary):
    return {row["source_path"]: row["reason"] for row in summary.rejects}


def test_a_trial_carries_what_stands_around_it(tree, lake):
    ingest([tree], lake)
    (trial,) = rows(lake, "trials", source_path=OUTPUT)
    assert (trial["campaign"], trial["testbed"], trial["repetition"]) == (CAMPAIGN, "kea-netns-2core", 1)
    assert dict(trial["context_sources"])["ha_mode"] == f"server configuration {CONFIGURATION}"
    (config,) = rows(lake, "server_configs", server_config_id=trial["server_config_id"])
    assert config["source_path"] == CONFIGURATION
    observed = rows(lake, "observations", "trial_id", "metric", trial_id=trial["trial_id"])
    assert {"perfdhcp_cpu_s", "leases_in_db_after"} <= {row["metric"] for row in observed}
    assert [row["exchange"] for row in rows(lake, "exchanges", trial_id=trial["trial_id"])] == [
        "DISCOVER-OFFER",
        "REQUEST-ACK",
    ]


def test_ingesting_again_adds_nothing_wherever_the_tree_lies(tree, lake, tmp_path):
    first = ingest([tree], lake)
    moved = tmp_path / "elsewhere"
    shutil.copytree(tree, moved)
    for again in (tree, moved):
        summary = ingest([again], lake)
        assert counts(summary) == (first.seen, 0, first.seen, 0)
        assert (summary.trials, summary.batch) == (0, None)
    assert len(lake.batches()) == 1


def test_a_changed_file_supersedes_its_old_version_which_stays(tree, lake):
    ingest([tree], lake)
    old = rows(lake, "raw_files", source_path=OUTPUT)[0]["sha256"]
    (tree / OUTPUT).write_bytes((tree / OUTPUT).read_bytes().replace(b"740", b"741"))
    summary = ingest([tree], lake)
    assert (summary.ingested, summary.trials) == (1, 1)
    versions = rows(lake, "raw_files", source_path=OUTPUT)
    assert [row["sha256"] == old for row in versions] == [True, False]
    assert lake.current_files()[("kea-2.2-ha", OUTPUT)].sha256 == versions[1]["sha256"]
    assert len(rows(lake, "trials", source_path=OUTPUT)) == 2


def test_a_changed_context_supersedes_too(tree, lake):
    ingest([tree], lake)
    sidecar = json.loads((tree / SIDECAR).read_text())
    (tree / SIDECAR).write_text(json.dumps(sidecar | {"backend_version": "9.9"}))
    summary = ingest([tree], lake)
    assert (summary.ingested, summary.trials) == (2, 1)
    assert [t["backend_version"] for t in rows(lake, "trials", source_path=OUTPUT)] == ["2.1", "9.9"]
    yaml = (tree / "campaign.yaml").read_text().replace("kea-netns-2core", "lab")
    (tree / "campaign.yaml").write_text(yaml)
    assert ingest([tree], lake).trials == 7


def test_a_corrupt_file_among_good_ones_is_rejected_alone(tree, lake):
    (tree / OUTPUT).write_bytes((tree / OUTPUT).read_bytes()[:400])
    summary = ingest([tree], lake)
    assert (summary.rejected, summary.trials) == (1, 6)
    (reject,) = summary.rejects
    assert reject["source_path"] == OUTPUT
    assert reject["hint"]
    recorded = rows(lake, "rejects")
    assert [(row["source_path"], row["reason"]) for row in recorded] == [(OUTPUT, reject["reason"])]


def test_a_known_rejected_file_is_rejected_again_but_recorded_once(tree, lake):
    (tree / "strange.bin").write_bytes(b"\x00\x01")
    first, second = ingest([tree], lake), ingest([tree], lake)
    assert (first.rejected, second.rejected) == (1, 1)
    assert first.rejects == second.rejects
    assert second.batch is None
    assert len(rows(lake, "rejects")) == len(rows(lake, "raw_files", status="rejected")) == 1


def test_a_sidecar_names_the_campaign_before_the_caller_does_and_campaign_yaml_before_both(bare, lake):
    summary = ingest([bare], lake, campaign="kea")
    assert (counts(summary), summary.campaigns, "c6, not kea" in summary.notes[0]) == ((4, 4, 0, 0), {"c6"}, True)
    trials = rows(lake, "trials")
    assert {(t["campaign"], t["repetition"], t["context_path"]) for t in trials} == {("c6", 1, ".")}
    assert {t["threading"] for t in trials} == {"single"}
    assert rows(lake, "campaigns", "campaign", "discard_from_runs") == [{"campaign": "c6", "discard_from_runs": 5}]
    (bare / "rep1/rate740.json").write_text((bare / "rep1/rate740.json").read_text().replace('"c6"', '"c7"'))
    assert ingest([bare], lake).superseded == len([key for key in lake.places() if key[0] == "c7"]) == 2
    assert {key[1][:12] for key in lake.places() if key[0] == "c6"} == {"rep1/rate105"}
    (bare / "campaign.yaml").write_text("campaign: kea\n")
    assert counts(ingest([bare], lake)) == (5, 5, 0, 0)
    (bare / "campaign.yaml").unlink()
    assert (ingest([bare], lake).notes, {campaign for campaign, _ in lake.places()}) == ([], {"kea"})


def test_a_folder_whose_results_replace_those_of_another_is_told(bare, lake):
    ingest([bare], lake)
    other = shutil.copytree(bare, bare.with_name("other"))
    shutil.copy(other / "rep1/rate1050.txt", other / "rep1/rate740.txt")
    told = f"1 file of other replaced those of {bare.name}, as both folders are campaign c6 and have the same paths"
    assert ingest([other], lake).notes[-1].startswith(told)


def test_the_nearest_campaign_yaml_applies(tree, lake):
    inner = tree / "runs" / "inner"
    shutil.copytree(tree / "runs" / "v4_st_memfile_hot-standby", inner)
    (inner / "campaign.yaml").write_text("campaign: inner\n")
    assert ingest([tree], lake).campaigns == {"inner", "kea-2.2-ha"}
    paths = [row["source_path"] for row in rows(lake, "trials", campaign="inner")]
    assert len(paths) == 7
    assert all(path.startswith("rep1/") for path in paths)


def test_one_file_is_ingested_with_its_sidecar_and_campaign(bare, lake):
    (bare / "rep1" / "campaign.yaml").write_text("campaign: one\n")
    summary = ingest([bare / "rep1" / "rate740.txt"], lake)
    assert (counts(summary), summary.campaigns) == ((3, 3, 0, 0), {"one"})
    assert rows(lake, "trials")[0]["backend"] == "memfile"


def test_overlapping_paths_are_seen_once(tree, lake):
    summary = ingest([tree, tree / "runs", tree / OUTPUT, tree], lake)
    assert summary.trials == 7
    assert summary.rejects == []


def test_files_under_a_broken_campaign_yaml_are_rejected_and_no_others(tree, bare, lake):
    first = ingest([tree], lake)
    (tree / "campaign.yaml").write_text("campaign: a\npathh: x\ndefaults: {threading: multy}\n")
    inner = tree / "runs" / "own"
    inner.mkdir()
    shutil.copy(bare / "rep1" / "rate740.txt", inner)
    (inner / "campaign.yaml").write_text("campaign: inner\n")
    summary = ingest([tree, bare], lake)
    assert counts(summary) == (first.seen + 6, 6, 0, first.seen)
    said = [(row["source_path"], row["line"], row["reason"].split(": ")[0]) for row in summary.rejects]
    path = str(tree / "campaign.yaml")
    assert sorted(said) == [(path, 2, "pathh"), (path, 3, "defaults.threading")]
    assert (
        summary.rejects[0]["hint"]
        == f"repair it, and ingest the folder again: {first.seen} files of the folder wait for it"
    )
    # What was ingested of them before still counts.
    assert {campaign for campaign, _ in lake.places()} == {"kea-2.2-ha", "inner", "c6"}
    assert len([key for key in lake.places() if key[0] == "kea-2.2-ha"]) == first.seen


def test_two_campaigns_of_one_name_are_refused(tree, lake):
    shutil.copytree(tree, tree.parent / "second")
    with pytest.raises(CampaignError, match="both named"):
        ingest([tree, tree.parent / "second"], lake)


def test_a_path_that_is_not_there_is_refused(lake, tmp_path):
    with pytest.raises(IntakeError, match="no such file"):
        ingest([tmp_path / "none"], lake)


def test_a_pipe_is_not_said_to_be_missing(lake):
    read_end, write_end = os.pipe()
    try:
        with pytest.raises(IntakeError, match="a pipe or device, not a file; save its output to a file"):
            ingest([Path(f"/dev/fd/{read_end}")], lake)
    finally:
        os.close(read_end)
        os.close(write_end)


def test_hidden_files_notes_and_ignored_ones_are_counted_with_the_rule_that_left_them_out(bare, lake):
    for name in (".hidden", "README", "README.txt", "LICENSE", "notes.md", "rate1.txt~", "x.log"):
        (bare / name).write_text("x")
    (bare / ".git").mkdir()
    (bare / ".git" / "config").write_text("x")
    (bare / "campaign.yaml").write_text("campaign: a\nignore: ['*.log']\n")
    summary = ingest([bare], lake)
    assert counts(summary) == (13, 5, 0, 0)
    rules = {Path(each.path).name: each.rule.split(":")[0] for each in summary.ignored}
    assert rules == {
        ".git": "the history of a version control system",
        ".hidden": "hidden",
        "LICENSE": "a licence",
        "README": "notes without a report",
        "README.txt": "notes without a report",
        "notes.md": "notes without a report",
        "rate1.txt~": "an editor's backup",
        "x.log": "listed under `ignore",
    }
    assert f"{bare}/notes.md\n          -> notes without" in summary.text(with_ignored=True)
    assert "notes.md" not in summary.text()
    assert summary.text().startswith("13 files = 5 ingested + 0 skipped + 0 rejected + 8 ignored; batch")
    again = ingest([bare], lake)
    assert (counts(again), again.ignored, again.batch) == ((13, 0, 5, 0), summary.ignored, None)
    assert ingest([bare], lake, reread=True).ignored == summary.ignored


@pytest.mark.parametrize("name", ["results.md", "README", "README.txt"])
def test_a_report_in_notes_is_read_however_far_down_it_stands(name, bare, lake):
    report = (bare / "rep1" / "rate740.txt").read_text()
    (bare / "near").mkdir()
    (bare / "near" / name).write_text(f"# October\n\n```\n{report}```\n")
    (bare / "far").mkdir()
    (bare / "far" / name).write_text("a word and another\n" * 20_000 + report)
    ingest([bare], lake)
    for folder in ("near", "far"):
        (trial,) = rows(lake, "trials", source_path=f"{folder}/{name}")
        assert (trial["offered_rate"], trial["completed"]) == (740.0, True)


def test_empty_files_have_a_reason_of_their_own_and_empty_messages_are_fine(bare, lake):
    (bare / "rate1.txt").touch()
    (bare / "rate740.err").touch()
    assert reasons(ingest([bare], lake)) == {"rate1.txt": "the file is empty"}
    assert rows(lake, "raw_files", source_path="rate740.err")[0]["status"] == "context"


def test_a_broken_sidecar_is_rejected_and_its_trial_is_kept(bare, lake):
    (bare / "rep1" / "rate740.json").write_text('{"backend": \n')
    summary = ingest([bare], lake)
    assert (summary.rejected, summary.trials) == (1, 2)
    assert summary.rejects[0]["line"] == 2
    (trial,) = rows(lake, "trials", source_path="rep1/rate740.txt")
    assert "cannot be used" in trial["warnings"][-1]


def test_a_sidecar_that_leads_out_of_the_tree_reads_nothing(bare, lake, tmp_path):
    secret = tmp_path / "secret.json"
    shutil.copy(ROOT / "examples/kea-2.2-ha/configs/v4_st_memfile_hot-standby_ha1.json", secret)
    sidecar = bare / "rep1" / "rate740.json"
    for path in ("../../secret.json", str(secret), "../bare/../../secret.json"):
        sidecar.write_text(json.dumps({"config": path, "mode": "st"}))
        ingest([bare], lake)
    trials = rows(lake, "trials", source_path="rep1/rate740.txt")
    assert [trial["server_config_id"] for trial in trials] == [None, None, None]
    assert rows(lake, "server_configs") == []


def test_links_are_not_followed_out_of_the_tree_nor_in_circles(bare, lake, tmp_path):
    outside = tmp_path / "outside.txt"
    shutil.copy(bare / "rep1" / "rate740.txt", outside)
    (bare / "away.txt").symlink_to(outside)
    (bare / "loop").symlink_to(bare)
    (bare / "self").symlink_to(bare / "self")
    (bare / "again.txt").symlink_to(bare / "rep1" / "rate740.txt")
    (bare / "up").symlink_to("..")
    summary = ingest([bare], lake)
    assert (summary.seen, summary.trials) == (9, 2)
    assert {Path(each.path).name for each in summary.ignored} == {"again.txt", "loop"}
    assert {path: reason.split(" that ")[-1] for path, reason in reasons(summary).items()} == {
        "away.txt": "leaves the ingested folder",
        "self": "points nowhere",
        "up": "leaves the ingested folder",
    }


def test_pipes_are_refused_without_being_opened_and_large_files_without_being_read(bare, lake, monkeypatch):
    monkeypatch.setattr("dropline.ingest.files.MAX_BYTES", 4000)
    os.mkfifo(bare / "pipe.txt")
    os.mkfifo(bare / "rep1" / "rate1050.json.pipe")
    (bare / "large.txt").write_bytes(b"x" * 5000)
    for _ in range(2):
        summary = ingest([bare], lake)
        assert "regular file" in reasons(summary)["pipe.txt"]
        assert "limit of 4000" in reasons(summary)["large.txt"]
        assert (summary.rejected, summary.trials + summary.skipped) == (3, 2 if summary.batch else 4)
    assert len(rows(lake, "raw_files", status="rejected", content=None)) == 3


def test_a_file_name_that_is_no_text_is_kept_in_a_readable_form(bare, lake):
    name = os.fsencode(bare / "rep1") + b"/rate\xff740.txt"
    shutil.copy(bare / "rep1" / "rate740.txt", name)
    assert ingest([bare], lake).trials == 3
    assert rows(lake, "trials", source_path="rep1/rate\\xff740.txt")


@pytest.mark.parametrize(("ending", "compress"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)])
def test_a_compressed_output_has_the_sidecar_of_its_name(bare, lake, ending, compress):
    output = bare / "rep1" / "rate740.txt"
    (bare / "rep1" / f"rate740.txt.{ending}").write_bytes(compress(output.read_bytes()))
    output.unlink()
    assert ingest([bare], lake).rejects == []
    (trial,) = rows(lake, "trials", source_path=f"rep1/rate740.txt.{ending}")
    assert (trial["tool"], trial["threading"]) == ("perfdhcp", "single")


def test_several_reports_in_one_file_are_several_trials(bare, lake):
    output = bare / "rep1" / "rate740.txt"
    output.write_bytes(output.read_bytes() * 3)
    assert ingest([bare], lake).trials == 4
    trials = rows(lake, "trials", source_path="rep1/rate740.txt")
    assert [trial["report_index"] for trial in trials] == [0, 1, 2]
    assert len({trial["trial_id"] for trial in trials}) == 3
    assert [trial["exit_code"] for trial in trials] == [None] * 3
    assert rows(lake, "observations", "trial_id", trial_id=None)


@pytest.mark.parametrize("fault", [2**70, "text", "\ud800", float("nan"), ZeroDivisionError()], ids=repr)
def test_a_value_that_no_column_can_hold_or_a_reader_that_fails_costs_its_file_alone(fault, bare, lake, monkeypatch):
    parse = perfdhcp.parse

    def failing(data):
        for report in parse(data):
            if b"-r 1050" in data:
                if isinstance(fault, Exception):
                    raise fault
                report.facts["sent"] = fault
            yield report

    bare = shutil.copytree(bare, bare.with_name("without sidecars"), ignore=shutil.ignore_patterns("*.json"))
    monkeypatch.setattr(ramps.Ramps, "outcomes", lambda *_: {})  # it is asked about every file
    monkeypatch.setattr(perfdhcp, "parse", failing)
    for times in range(2):
        summary = ingest([bare], lake)
        assert counts(summary) == ((2, 1, 0, 1), (2, 0, 1, 1))[times]
        told = "ZeroDivisionError" if isinstance(fault, Exception) else "does not fit"
        assert told in reasons(summary)["rep1/rate1050.txt"]
    assert [len(rows(lake, name)) for name in ("trials", "rejects", "campaigns")] == [1, 1, 1]


def test_progress_counts_every_file(bare, lake):
    told = []
    ingest([bare], lake, progress=lambda *step: told.append(step))
    assert told == [(4, 4)]


def test_the_machine_named_as_server_is_the_host_of_the_trials(tree, lake):
    shutil.copytree(tree / "machine", tree / "client")
    (tree / "client" / "hostname.txt").write_text("client\n")
    report = (tree / OUTPUT).read_text()
    (tree / "NOTES.md").write_text("We measured all day.\n" * 5000 + report)  # far below the head
    (tree / "LOG").write_text(f"$ uname -a\nLinux vm 6.1.0 x\n$ perfdhcp\n{report.replace('packets: ', 'packets: 1')}")
    ingest([tree], lake)
    (server,) = rows(lake, "hosts", source_path="machine")
    (tree / "client" / "hostname.txt").write_text("renewed\n")
    assert "/client: these facts of a machine replace different ones" in ingest([tree], lake).notes[-1]
    assert len(rows(lake, "hosts")) == 3
    assert {"NOTES.md", "LOG"} < {trial["source_path"] for trial in rows(lake, "trials")}
    assert {trial["host_id"] for trial in rows(lake, "trials")} == {server["host_id"]}


@pytest.mark.parametrize(("facts", "roles", "told"), CASES["machines"])
def test_a_trial_has_the_machine_nearest_to_it_that_may_be_its_server(facts, roles, told, lake, tmp_path):
    campaign = tmp_path / "nearest"
    for name in facts:
        file = campaign / (name if name.endswith(".txt") else f"{name}/lscpu.txt")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"Architecture: x86_64\nCPU(s): 2\nModel name: {name}\n")
    for folder in told:
        (campaign / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "examples" / CAMPAIGN / OUTPUT, campaign / folder / "rate1050.txt")
    (campaign / "campaign.yaml").write_text(yaml.safe_dump({"campaign": "nearest", "machines": roles}))
    notes = ingest([campaign], lake).notes
    assert any("do not tell which machine served" in note for note in notes) == (None in told.values() and not roles)
    models = {host["host_id"]: host["cpu_model"] for host in rows(lake, "hosts")}
    found = {Path(row["source_path"]).parent.as_posix(): models.get(row["host_id"]) for row in rows(lake, "trials")}
    assert found == told


def test_all_captures_in_one_call_end_as_trials_counters_context_or_a_reject_that_says_why(lake):
    folders = [ROOT / "tests" / "captures", ROOT / "examples"]
    summary = ingest(folders, lake)
    assert summary.seen == summary.ingested + summary.skipped + summary.rejected + len(summary.ignored) > 1500
    assert summary.seen == sum(p.is_file() for folder in folders for p in folder.rglob("*"))
    kinds = Counter(row["status"] for row in rows(lake, "raw_files", "status"))
    assert kinds["rejected"] == summary.rejected
    assert len(rows(lake, "trials", "trial_id")) == summary.trials
    assert all(row["reason"] and row["hint"] for row in summary.rejects)
    assert min(kinds[status] for status in ("trials", "observations", "context", "rejected")) > 50
    # Nothing that people keep among their results is a riddle, but a table that these tests made and a lone fact.
    riddles = {r["source_path"] for r in summary.rejects if r["reason"].startswith("not recognised")}
    assert riddles == {"other/cgroup.txt"}
    again = ingest(folders, lake)
    assert (again.batch, again.ingested) == (None, 0)
    assert again.rejects == summary.rejects
