"""A banner before a report tells whose report it is: a fail-over's two servers in one log stay apart."""

from pathlib import Path

import pytest
import yaml

from dropline.ingest.formats import Report
from dropline.ingest.formats.banners import banners
from dropline.ingest.formats.prefixes import unwrapped
from dropline.ingest.loader import ingest
from tests.ingest.conftest import EXAMPLE, RUN

CASES = yaml.safe_load(Path(__file__).with_name("banners.yml").read_text())
REPORT = (EXAMPLE / RUN / "rep1" / "rate740.txt").read_bytes()


def words(lake, folder, *banners, name="probes.txt", prefix=""):
    folder.mkdir()
    text = b"".join(banner.encode() + b"\n" + REPORT for banner in banners)
    (folder / name).write_bytes(b"".join(prefix.encode() + line for line in text.splitlines(keepends=True)))
    ingest([folder], lake)
    trials = lake.tables("trials", ["report_index", "name_words"]).to_pylist()
    return [row["name_words"] for row in sorted(trials, key=lambda row: row["report_index"])]


@pytest.mark.parametrize("banner", CASES["name apart"])
def test_the_name_in_a_banner_tells_servers_apart_and_its_time_does_not(banner, lake, tmp_path):
    probes = [("primary", "11:29:46"), ("standby", "11:29:56"), ("primary", "11:30:06")]
    told = words(lake, tmp_path / "failover", *(banner.format(*probe) for probe in probes))
    assert told == ["primary probes", "standby probes", "primary probes"]


@pytest.mark.parametrize("banner", CASES["name nobody"])
def test_a_line_that_names_nobody_tells_nothing(banner, lake, tmp_path):
    assert words(lake, tmp_path / "kea", banner, banner, name="results.txt") == [None, None]


def test_a_name_that_the_file_has_too_is_told_once(lake, tmp_path):
    assert words(lake, tmp_path / "kea", "2021-02-09 11:29:46 - primary", name="primary-results.txt") == ["primary"]


def test_a_line_of_a_log_whose_lines_all_have_a_time_is_no_banner(lake, tmp_path):
    told = words(lake, tmp_path / "kea", "waiting", name="results.log", prefix="2021-02-09 11:29:46 ")
    assert told == [None]


@pytest.mark.parametrize("prefix", CASES["prefixes"].values())
def test_titles_behind_the_prefix_of_a_log_tell_reports_apart(prefix, lake, tmp_path):
    told = words(lake, tmp_path / "kea", "=== cold ===", "=== warm ===", prefix=prefix.format(0, 0))
    assert told == ["cold probes", "warm probes"]


@pytest.mark.parametrize(("text", "told"), CASES["documents"].items())
def test_headings_of_markdown_and_else_the_addresses_of_servers_tell_reports_apart(text, told):
    lines = [(number, line.rpartition("<out>")[2].strip()) for number, line in enumerate(text.splitlines(), 1)]
    ran = [(number, line[3:].strip().partition("=")) for number, line in lines if line.startswith("ran")]
    rated = [(at, to, None if n == "?" else float(n or 0)) for at, (to, _, n) in ran]
    of = [Report(at, {"details": f'{{"target": "{to}"}}', "offered_rate": rate}) for at, to, rate in rated]
    for report in of:
        if '"-' in report.facts["details"]:  # options of perfdhcp
            report.facts = {"tool": "perfdhcp", "command": report.facts["details"][12:-2]}
    assert banners(text.encode(), of) == told


@pytest.mark.parametrize("first", CASES["first lines"])
def test_a_title_may_be_in_the_first_line_of_any_tool(first):
    text = "".join(f"{name} at 300: {first}\nof the tool\n" for name in ("nsd", "knot"))
    assert banners(text.encode(), [Report(line, {"offered_rate": 300.0}) for line in (2, 4)]) == ["nsd 300", "knot 300"]


@pytest.mark.parametrize(("text", "told"), CASES["objects"].items())
def test_what_json_says_beside_an_output_is_its_title(text, told):
    assert [each.title for each in unwrapped(text, bool)] == told
