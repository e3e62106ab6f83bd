"""One file explained: what it is and why, line by line, and where each value comes from."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

from dropline.ingest.campaign import CampaignError
from dropline.ingest.files import IntakeError
from dropline.ingest.formats import perfdhcp
from dropline.ingest.loader import ingest
from dropline.ingest.show import show
from tests.ingest.conftest import CONFIGURATION, EXAMPLE, OUTPUT, SIDECAR

ODD = Path(__file__).parents[1] / "captures" / "perfdhcp" / "odd"
FOLDER = Path(__file__).parents[1] / "captures"
POWERDNS = EXAMPLE.parent / "powerdns-4.7"


def kinds(explanation):
    return {number: kind for number, _, kind in explanation.lines}


def sources(values):
    return {column: (value, source) for column, value, source in values}


def test_every_line_of_a_good_file_is_told(tree):
    told = show(tree / OUTPUT)
    assert (told.kind, told.campaign, told.source_path) == ("output of perfdhcp", "kea-2.2-ha", OUTPUT)
    assert told.why.startswith("line 1: Running: perfdhcp -4 -r 740")
    text = (tree / OUTPUT).read_text().splitlines()
    assert [line[:2] for line in told.lines] == [(n, line) for n, line in enumerate(text, 1) if line.strip()]
    assert {n: kinds(told)[n] for n in (1, 2, 4, 7, 11, 12, 15, 20, 28, 39)} == {
        1: "command line",
        2: "scenario",
        4: "interim counters",
        7: "rate",
        11: "head of the statistics of DISCOVER-OFFER",
        12: "counter of DISCOVER-OFFER",
        15: "drops ratio of DISCOVER-OFFER",
        20: "delay of DISCOVER-OFFER",
        28: "counter of REQUEST-ACK",
        39: "count of collected packets of REQUEST-ACK",
    }
    assert told.outcome.rejects == []
    assert "report 1, from line 1 on: 740 offered, 739.063 leases/s achieved, 4438 sent" in told.text()


def test_every_value_is_told_with_the_sidecar_configuration_or_machine_it_comes_from(tree):
    (trial,) = show(tree / OUTPUT).trials
    said = sources(trial.values)
    assert said["ha_mode"] == ("hot-standby", f"server configuration {CONFIGURATION}")
    assert said["server_config_id"][1] == f"server configuration {CONFIGURATION}"
    assert said["testbed"] == ("kea-netns-2core", f"sidecar {SIDECAR}")
    assert said["offered_rate"] == (740, "text")
    assert said["host_id"][1] == "machine facts machine"


def test_sources_that_disagree_are_told(tree):
    sidecar = json.loads((tree / SIDECAR).read_text())
    (tree / SIDECAR).write_text(json.dumps(sidecar | {"backend": "mysql"}))
    told = show(tree / OUTPUT)
    (conflict,) = told.trials[0].row["conflicts"]
    assert conflict.startswith("backend: memfile (server configuration ")
    assert f"conflict: {conflict}" in told.text()


def test_a_campaign_without_a_description_is_the_folder_that_is_named(bare):
    output = bare / "rep1" / "rate740.txt"
    shutil.copy(EXAMPLE / CONFIGURATION, bare / "rep1" / "kea.conf")
    sidecar = output.with_suffix(".json")
    said = {k: v for k, v in json.loads(sidecar.read_text()).items() if not k.startswith("config")}
    sidecar.write_text(json.dumps(said))
    alone, among = show(output), show(output, within=bare)
    assert (alone.campaign, alone.source_path, among.source_path) == ("c6", "rate740.txt", "rep1/rate740.txt")
    assert "server_config_id" not in sources(alone.trials[0].values)
    assert sources(among.trials[0].values)["ha_mode"][1] == "server configuration rep1/kea.conf"


@pytest.mark.parametrize(
    ("name", "number", "kind"),
    [
        ("010_v4_x_l", 40, "known text"),
        ("010_v4_x_l", 41, "lease"),
        ("014_v4_t1_C_comma", 3, "interim counters"),
        ("035_v4_avalanche_big", 2, "scenario"),
        ("043_v4_f", 43, "drops ratio of REQUEST-ACK (renewal)"),
        ("121_err_unroutable", 5, "error"),
        ("127_err_unknown_opt", 10, "usage text"),
    ],
)
def test_odd_lines_are_told(name, number, kind):
    assert kinds(show(ODD / f"{name}.txt"))[number] == kind


def test_a_file_that_gives_no_trial_tells_why_and_what_would_be_joined():
    told = show(ODD / "089_v4_sigterm.txt")
    assert told.trials == []
    assert [reject["line"] for reject in told.outcome.rejects] == [1]
    assert sources(told.joined.values)["exit_code"] == (-15, "sidecar 089_v4_sigterm.json")
    text = told.text()
    assert "rejected, line 1: no final report, 2 interim lines" in text
    assert "-> if it was killed, run the trial again" in text
    assert "warning: server configuration 'configs/v4_st_memfile_none.json' is not among" in text


def test_a_line_that_nobody_knows_is_told_as_such(tree):
    output = tree / OUTPUT
    output.write_text(output.read_text().replace("orphans: 0", "orphans: zero", 1))
    told = show(output)
    assert kinds(told)[16] == "not understood"
    assert "Line 16 is not understood" in told.text()


@pytest.mark.parametrize(
    ("path", "kind", "why"),
    [
        (CONFIGURATION, "a server configuration of ISC Kea", 'line 2: "Dhcp4": {'),
        ("machine/lscpu.json", "machine facts: lscpu", 'line 2: "lscpu": ['),
        ("machine/hostname.txt", "machine facts: hostname", "its name hostname.txt"),
        ("campaign.yaml", "a campaign's description", "its name is campaign.yaml"),
        (SIDECAR, "a sidecar", "an output next to it has the same name"),
    ],
)
def test_what_explains_trials_is_known_for_what_it_is(path, kind, why, tree):
    told = show(tree / path)
    assert (told.kind, told.why, told.source_path) == (kind, why, path)
    assert (told.lines, told.trials, told.outcome.rejects) == ([], [], [])


def test_an_unknown_file_is_told_with_what_to_do(tree):
    (tree / "strange.bin").write_bytes(b"\x00\x1b[2Jx")
    told = show(tree / "strange.bin")
    assert told.kind == "not recognised"
    assert "-> check that it is complete" in told.text()


def test_compressed_text_is_recognised_by_its_line(bare):
    output = bare / "rep1" / "rate740.txt"
    packed = output.with_name("rate740.txt.gz")
    packed.write_bytes(gzip.compress(output.read_bytes()))
    told = show(packed)
    assert told.why.startswith("line 1: Running: perfdhcp")
    assert len(told.lines) == len(show(output).lines)
    assert len(told.trials) == 1


def test_whether_the_lake_knows_the_version_is_told(tree, lake):
    output = tree / OUTPUT
    assert show(output).known is None
    assert show(output, lake).known == "does not know it"
    ingest([tree], lake)
    batches = lake.batches()
    assert show(output, lake).known == "knows this version: trials"
    assert show(tree / "machine" / "lscpu.json", lake).known == "knows this version: context"
    copied = shutil.copy(output, tree / "copy.txt")
    assert show(copied, lake).known == f"knows these bytes as {OUTPUT} of campaign kea-2.2-ha"
    sidecar = json.loads((tree / SIDECAR).read_text())
    (tree / SIDECAR).write_text(json.dumps(sidecar | {"backend_version": "9.9"}))
    assert show(output, lake).known == "knows these bytes (trials); their context or what is read from them differs"
    output.write_text(output.read_text() + "\n")
    assert show(output, lake).known == "knows another version of this file"
    assert lake.batches() == batches


def test_control_characters_and_many_alike_lines_stay_harmless(tree):
    output = tree / OUTPUT
    interim = "sent: 2000/2000; received: 2000/2000; drops: 0/0; rejected: 0/0\n"
    output.write_text(output.read_text().replace("***Rate", interim * 50 + "\x07\x9b31m evil\u202e\n***Rate", 1))
    told = show(output)
    text = told.text()
    assert all(char.isprintable() or char == "\n" for char in text)
    assert len(told.lines) > 80
    assert text.count("sent: ") == 3
    assert "49 more, up to line 55" in text


def test_a_reader_that_fails_is_told(bare, monkeypatch):
    def failing(data):
        raise ZeroDivisionError

    monkeypatch.setattr(perfdhcp, "parse", failing)
    monkeypatch.setattr(perfdhcp, "explain", failing)
    told = show(bare / "rep1" / "rate740.txt")
    assert "ZeroDivisionError" in told.outcome.rejects[0]["reason"]
    assert "ZeroDivisionError" in told.lines[0][2]


def test_a_file_that_an_ingest_leaves_alone_is_told_all_the_same(tree):
    (tree / "runs" / ".notes").write_text("x")
    told = show(tree / "runs" / ".notes")
    assert told.left_alone
    assert "skips it" in told.text()
    assert not show(tree / OUTPUT).left_alone


@pytest.mark.parametrize(("path", "why"), [("none.txt", "no such file"), ("runs", "a folder; name one file")])
def test_what_is_no_file_is_refused(path, why, tree):
    with pytest.raises(IntakeError, match=why):
        show(tree / path)


def test_a_file_outside_the_named_folder_is_refused(tree, bare):
    with pytest.raises(IntakeError, match="is not in"):
        show(tree / OUTPUT, within=bare)


def test_a_broken_campaign_yaml_is_refused(tree):
    (tree / "campaign.yaml").write_text("campaign: A B\n")
    with pytest.raises(CampaignError, match=r"campaign\.yaml, line 1"):
        show(tree / OUTPUT)


def test_lines_of_a_dns_tool_are_told_with_the_columns_that_they_give(tmp_path):
    told = show(FOLDER / "dns" / "tools" / "dnsperf" / "mysql-sigint" / "dnsperf.out")
    assert {n: kinds(told)[n] for n in (1, 2, 4)} == {1: "of dnsperf", 2: "gives tool_version", 4: "gives command"}
    told = show(FOLDER / "dns" / "tools" / "flame" / "lmdb-Q1000" / "flame.out")
    assert kinds(told)[5] == "values of 5 metrics"
    told = show(POWERDNS / "large-buffer" / "mysql" / "04000pps" / "dnsblast.out")
    assert told.lines[0] == (1, "5993 sent, 2322 received, 38.75 %", "status line")
    alone = shutil.copy(POWERDNS / "large-buffer" / "mysql" / "04000pps" / "dnsblast.out", tmp_path)
    assert "warning: The rate is not known" in show(Path(alone)).text()


def test_counters_are_told_by_their_values_and_the_output_that_they_lie_beside():
    folder = POWERDNS / "large-buffer" / "mysql" / "04000pps"
    told = show(folder / "pdns-series.jsonl")
    assert told.beside == "large-buffer/mysql/04000pps/dnsblast"
    assert ("0 to 4083", "pdns.qsize-q (15)") in {line[1:] for line in told.lines}
    assert "next to   large-buffer/mysql/04000pps/dnsblast" in told.text()
