"""Results as people keep them, without a word beside them: what belongs together is told by names, or doubted."""

import shutil
from operator import itemgetter
from pathlib import Path

import pytest
import yaml

from tests.homes import asking, built

RUNS = Path(__file__).parents[2] / "examples" / "kea-2.2-backends" / "runs"
SET_UPS = {"memfile": "v4_st_memfile_none", "mysql": "v4_st_mysql_none"}
NAMED = yaml.safe_load(Path(__file__).with_name("named.yml").read_text())
POOLED = {"txt": "v4_st_mysql_none", "out": "v4_mt4_postgresql_none"}  # at the same rates
LAYOUTS = yaml.safe_load(Path(__file__).with_name("layouts.yml").read_text())


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    root = tmp_path_factory.mktemp("kept")
    outputs = [
        (name, int(output.stem.removeprefix("rate")), repetition, output.read_text())
        for name, set_up in SET_UPS.items()
        for repetition in (1, 2, 3)
        for output in RUNS.glob(f"{set_up}/rep{repetition}/rate*.txt")
    ]
    for number, (name, rate, repetition, report) in enumerate(sorted(outputs, key=itemgetter(0, 2, 1))):
        again = f"-{repetition}" if repetition > 1 else ""
        for layout, kept in LAYOUTS.items():
            place = root / layout / kept["path"].format(name, rate, repetition, number, again)
            place.parent.mkdir(parents=True, exist_ok=True)
            own = report.replace("-R 10000000", f"-R {rate}0") if layout == "clients" else report
            prefix = kept.get("prefix", "")
            text = kept.get("before", "").format(name, str(rate), repetition) + own + kept.get("behind", "")
            with place.open("a") as file:
                file.writelines(prefix.format(name, number) + line for line in text.splitlines(keepends=True))
            for beside, said in kept.get("files", {}).items():
                described = root / layout / beside.format(name, rate, repetition, number)
                described.parent.mkdir(exist_ok=True)
                described.write_text(said.format(name, rate, repetition))
    dns = Path(__file__).parents[1] / "captures" / "dns" / "tools" / "dnsperf-ramp" / "lmdb" / "Q00300-r1"
    (own := root / "numbers/mysql/runs/threads4").mkdir()  # beside 1 to 3
    (own / "dnsperf.out").write_text((dns / "dnsperf.out").read_text().replace(" -S 1", " -S 1 -T 4"))
    for campaign, folders in NAMED["folders"].items():
        for set_up, folder in folders.items():
            shutil.copytree(RUNS / set_up / "rep1", root / campaign / folder, ignore=shutil.ignore_patterns("*.json"))
    for place, text in NAMED["files"].items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(text)
    for repetition in (1, 2, 3):
        kept = root / "torn" / f"test{repetition}"
        shutil.copytree(RUNS / "v4_st_memfile_none" / f"rep{repetition}", kept, ignore=shutil.ignore_patterns("*.json"))
    (root / "pooled").mkdir()
    for ending, set_up in POOLED.items():
        for output in RUNS.glob(f"{set_up}/rep1/rate*.txt"):
            shutil.copy(output, root / "pooled" / f"{output.stem}.{ending}")
    with asking(built(tmp_path_factory.mktemp("home"), *root.iterdir())) as asked:
        yield asked


def capacities(warehouse, campaign):
    figures = "split_part(configuration, 'DHCPv4 ', 2), runs, round(lps, 6), status"
    return warehouse(f"select {figures} from leases_per_second where campaign = ? order by lps", campaign)


@pytest.mark.parametrize("layout", [*LAYOUTS][1:])
def test_names_tell_set_ups_and_repetitions_apart_as_folders_do(layout, warehouse):
    plain = capacities(warehouse, "folders")
    assert [(name, runs) for name, runs, *_ in plain] == [("mysql", 3), ("memfile", 3)]
    told = capacities(warehouse, layout)
    assert [row[1:] for row in told] == [row[1:] for row in plain]
    assert [row[0] for row in told] == [LAYOUTS[layout].get("label", "{}").format(name) for name, *_ in plain]


def test_every_run_is_one_ramp(warehouse):
    runs = warehouse(
        """select campaign, list(distinct repetition order by repetition), bool_and(trials = steps),
        count(distinct host_id) from runs where list_contains(?, campaign) and tool = 'perfdhcp' group by campaign""",
        [*LAYOUTS],
    )
    assert sorted(runs) == sorted((layout, [1, 2, 3], True, kept.get("hosts", 0)) for layout, kept in LAYOUTS.items())


@pytest.mark.parametrize(("campaign", "rows"), NAMED["set_ups"].items())
def test_names_tell_what_was_tested(campaign, rows, warehouse):
    told = "product, product_version, threading, threads, ha_mode, 'share_of_a_pair' in findings from leases_per_second"
    assert [*map(list, warehouse(f"select {told} where campaign = ? order by all", campaign))] == rows


@pytest.mark.parametrize("campaign", ["named", "named-by-contrast", "counted-threads", "negated"])
def test_words_of_names_tell_what_ratios_compare(campaign, warehouse):
    assert warehouse(
        "select lps_single, lps_multi from multithreading_speedup where campaign = ?", campaign
    ) == warehouse(
        """select max(lps) filter (threads = 1), max(lps) filter (threads = 4) from leases_per_second
        where campaign = ? and backend = 'memfile'""",
        campaign,
    )


def test_threads_in_a_name_may_be_those_of_dnsperf(warehouse):
    assert warehouse(
        """select distinct threads, configuration like '%threads4%' from runs
        where campaign = 'numbers' and tool = 'dnsperf'"""
    ) == [(None, True)]


def test_trials_at_one_rate_of_one_run_that_differ_beyond_chance_are_a_warning(warehouse):
    (finding,) = warehouse(
        "select campaign, severity, subject, detail from quality_findings where finding = 'trials_disagree'"
    )
    assert finding[:3] == ("pooled", "warning", "run")
    assert finding[3].startswith("Trials of one run at 2550/s lost 24.74 % and 36.59 %, more than chance explains")
    assert warehouse("select distinct quality from leases_per_second where campaign = 'pooled'") == [("warn",)]


def test_set_ups_that_may_be_repetitions_are_told(warehouse):
    details = warehouse("select detail from quality_findings where campaign = 'torn' and finding = 'too_few_runs'")
    assert ["3 set-ups differ only in numbers" in detail for (detail,) in details] == [True] * 3


def test_two_spellings_of_a_backend_side_by_side_are_two_set_ups(warehouse):
    names = "select configuration, backend from leases_per_second where campaign = 'spellings' order by all"
    assert warehouse(names) == [("DHCPv4 mysql mariadb", "mysql"), ("DHCPv4 mysql mysql", "mysql")]


def test_generators_that_may_have_shared_a_server_are_told(warehouse):
    told = warehouse(
        """select campaign, severity, detail like 'One of 2 set-ups%' from quality_findings
        where finding = 'one_of_several_generators'"""
    )
    assert told == [("two-generators", "info", True)] * 2


def test_where_a_value_comes_from_is_told(warehouse):
    by_order = [layout for layout, kept in LAYOUTS.items() if kept.get("by_order")]
    told = warehouse(
        """select distinct finding, campaign, severity from quality_findings
        where finding like 'runs_%' or finding = 'context_conflict'"""
    )
    assert {*told} == {
        ("context_conflict", "served", "warning"),
        ("runs_disagree", "numbered", "warning"),
        *(("runs_by_order", at, "info") for at in by_order),
    }
    assert warehouse(
        """select distinct context_sources['repetition'], context_sources['backend'] from trials
        where campaign in ('flat', 'described')"""
    ) == [("file name", "names of folders and file")]
