"""Simulated campaigns hold what they promise: as files, as a lake, and in the warehouse."""

import re
from pathlib import Path

import duckdb
import pytest

from benchmarks.campaigns import campaigns
from benchmarks.trees import dnsperf_report, lake_of, perfdhcp_report, render, render_again
from dropline import pipeline
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.paths import Home

ROOT = Path(__file__).parent.parent.parent
RUNS = ROOT / "examples" / "kea-2.2-backends" / "runs"
DNSPERF = ROOT / "tests" / "captures" / "dns" / "tools" / "dnsperf-ramp"


@pytest.mark.parametrize("capture", ["v4_st_mysql_none/rep1/rate2550", "v6_st_memfile_none/rep1/rate27700"])
def test_the_template_of_perfdhcp_prints_a_real_report_again(capture):
    text = (RUNS / f"{capture}.txt").read_text()
    command = text.partition("\n")[0].removeprefix("Running: ")
    names = re.findall(r"Statistics for: (\S+)\*\*\*", text)
    assert_prints(perfdhcp_report(command, names, text.count("\nsent: ")), text)


@pytest.mark.parametrize("capture", ["lmdb/Q12000-r1", "mysql/Q00300-r2"])
def test_the_template_of_dnsperf_prints_a_real_report_again(capture):
    text = (DNSPERF / capture / "dnsperf.out").read_text()
    command = re.search("Command line: (.*)", text)
    assert command
    assert_prints(dnsperf_report(command[1], 5, len(re.findall(r"^\d+\.", text, re.MULTILINE))), text)


def assert_prints(template, text):
    """Fill the numbers of a text into a template and expect the text."""
    fields = re.findall(r"%(?:d|g|s|\.\df)", template)
    pattern = re.sub(r"%(?:d|g|s|\\\.\df)", "(.+)", re.escape(template).replace("%%", "%"))
    found = re.fullmatch(pattern, text)
    assert found
    kinds = {"d": int, "f": float, "g": float, "s": str}
    assert (
        template % tuple(kinds[field[-1]](value) for field, value in zip(fields, found.groups(), strict=True)) == text
    )


def test_a_tree_ingests_to_what_it_promises(tmp_path):
    promise = render(tmp_path / "tree", 200)
    summary = ingest([tmp_path / "tree"], Lake.create(tmp_path / "lake"))
    assert (summary.trials, summary.rejected, summary.seen) == (200, promise.rejects, promise.files)
    assert promise.rejects
    assert sum(path.stat().st_size for path in tmp_path.glob("tree/**/*.*")) == promise.size_bytes


def test_the_seed_decides_every_byte(tmp_path):
    for name, seed, trials in (("one", 1, 30), ("same", 1, 30), ("other", 2, 30), ("longer", 1, 40)):
        render(tmp_path / name, trials, seed)
    one, same, other, longer = (contents(tmp_path / name) for name in ("one", "same", "other", "longer"))
    assert one == same
    assert one != other
    assert one.items() < longer.items()


def test_trials_measured_again_replace_their_files(tmp_path):
    render(tmp_path, 100)
    before = contents(tmp_path)
    changed = render_again(tmp_path, 100, share=0.2)
    after = contents(tmp_path)
    assert before.keys() <= after.keys()
    assert changed == sum(before.get(path) != data for path, data in after.items() if path.endswith(".txt"))
    assert 5 < changed < 40


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_build_passes_the_gate_and_finds_the_true_capacity(tmp_path):
    home = Home.chosen(tmp_path)
    lake_of(home.lake, 200, again=0.05)
    pipeline.build(home)
    (campaign,) = campaigns(200)
    with duckdb.connect(str(home.warehouse), read_only=True) as connection:
        assert connection.execute("select count(*) from trials").fetchone() == (200,)
        assert Lake(home.lake).tables("trials", ["trial_id"]).num_rows > 200
        found = connection.execute(
            "select runs, status, rate_interpolated from capacity"
            " where loss_goal = 'isc' and threading = 'single' and campaign = ?",
            [campaign.name],
        ).fetchone()
    assert found == (9, "bracketed", pytest.approx(campaign.truth[0], rel=0.04))
