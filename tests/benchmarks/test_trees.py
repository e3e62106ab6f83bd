"""Simulated campaigns hold what they promise: as files, as a lake, and in the warehouse."""

import re
from pathlib import Path

import pytest

from benchmarks.campaigns import campaigns
from benchmarks.trees import dnsperf_report, lake_of, perfdhcp_report, render
from dropline import pipeline
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.paths import Home
from tests.homes import asking

ROOT = Path(__file__).parent.parent.parent
RUNS = ROOT / "examples" / "kea-2.2-backends" / "runs"
DNSPERF = ROOT / "tests" / "captures" / "dns" / "tools" / "dnsperf-ramp"


def test_the_templates_print_real_reports_again():
    text = (RUNS / "v6_st_memfile_none/rep1/rate27700.txt").read_text()
    command = text.partition("\n")[0].removeprefix("Running: ")
    names = re.findall(r"Statistics for: (\S+)\*\*\*", text)
    assert printed(perfdhcp_report(command, names, text.count("\nsent: ")), text) == text
    text = (DNSPERF / "lmdb/Q12000-r1/dnsperf.out").read_text()
    [command] = re.findall("Command line: (.*)", text)
    assert printed(dnsperf_report(command, 5, len(re.findall(r"^\d+\.", text, re.MULTILINE))), text) == text


def printed(template, text):
    """Fill the numbers of a text into a template."""
    fields = re.findall(r"%(?:d|g|s|\.\df)", template)
    pattern = re.sub(r"%(?:d|g|s|\\\.\df)", "(.+)", re.escape(template).replace("%%", "%"))
    found = re.fullmatch(pattern, text)
    assert found
    kinds = {"d": int, "f": float, "g": float, "s": str}
    return template % tuple(kinds[field[-1]](value) for field, value in zip(fields, found.groups(), strict=True))


def test_a_tree_ingests_to_what_it_promises(tmp_path):
    promise = render(tmp_path / "tree", 200)
    summary = ingest([tmp_path / "tree"], Lake.create(tmp_path / "lake"))
    assert (summary.trials, summary.rejected, summary.seen) == (200, promise.rejects, promise.files)
    assert promise.rejects
    assert sum(path.stat().st_size for path in tmp_path.glob("tree/**/*.*")) == promise.size_bytes


def test_a_build_passes_the_gate_and_finds_the_true_capacity(tmp_path):
    home = Home.chosen(tmp_path)
    lake_of(home.lake, 200, again=0.05)
    pipeline.build(home)
    (campaign,) = campaigns(200)
    assert Lake(home.lake).tables("trials", ["trial_id"]).num_rows > 200
    with asking(home) as ask:
        assert ask("select count(*) from trials") == [(200,)]
        [found] = ask(
            "select runs, status, rate_interpolated from capacity"
            " where loss_goal = 'isc' and threading = 'single' and campaign = ?",
            campaign.name,
        )
    assert found == (9, "bracketed", pytest.approx(campaign.truth[0], rel=0.04))
