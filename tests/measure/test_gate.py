"""The gate over campaigns of simulated servers: what it fails, passes and leaves open, and how often it misleads."""

from xml.etree import ElementTree

import duckdb
import numpy as np
import pytest

from dropline.app.warehouse import Warehouse
from dropline.errors import DroplineError
from dropline.measure.gate import Pair, Verdict, exit_code, judge, parsed, self_test
from tests.commands import dropline
from tests.homes import built
from tests.measure.fake_perfdhcp import REPORT

KNEE = 5000
# version: how fast, and how many runs
VERSIONS = {"2.7.4": (1.0, 18), "2.7.5": (1.0, 9), "2.7.6": (0.95, 9), "2.7.7": (0.97, 2)}


def write_campaign(folder, version, noise):
    """Write the reports of a ramp around the knee; a run varies by 2 %."""
    factor, runs = VERSIONS[version]
    folder.mkdir(parents=True)
    (folder / "campaign.yaml").write_text(
        f"campaign: kea-{version}\npath: rep{{repetition}}/rate{{offered_rate}}.txt\ndefaults: {{product: ISC Kea, "
        f"product_version: {version}, backend: memfile, threading: single, testbed: none}}\n"
    )
    for run in range(1, runs + 1):
        knee, first = factor * KNEE * noise.normal(1, 0.02), KNEE * noise.uniform(0.84, 0.86)
        disturbed = {("2.7.5", each, round(first * 1.03)) for each in (2, 5)}
        (folder / f"rep{run}").mkdir()
        for rate in np.rint(first * 1.03 ** np.arange(10)).astype(int).tolist():
            sent = 10 * rate - 1
            lost = max(0, round(sent - knee * (8 if (version, run, rate) in disturbed else 10)))
            command = f"perfdhcp -4 -r {rate} -R 100000 -p 10 10.0.0.1"
            figures = {"rate": (sent - lost) / 10, "sent": sent, "answered": sent - lost, "lost": lost}
            text = REPORT.format(command=command, offered=rate, ratio=100 * lost / sent, **figures)
            (folder / f"rep{run}" / f"rate{rate}.txt").write_text(text)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    noise, folder = np.random.default_rng(2131), tmp_path_factory.mktemp("gate")
    for version in VERSIONS:
        write_campaign(folder / version, version, noise)
    return built(folder / "home", *(folder / version for version in VERSIONS), rejects=0)


@pytest.fixture(scope="module")
def ask(home):
    return Warehouse.open(home.warehouse).query


@pytest.mark.parametrize(
    ("candidate", "verdict", "says"),
    [
        ("2.7.5", Verdict.PASSED, ["passed: ", "2 of 9 runs are far below the others and do not count, 0 of 18 of "]),
        ("kea-2.7.6", Verdict.SLOWER, ["slower: -"]),
        ("2.7.7", Verdict.UNKNOWN, ["more run"]),
    ],
)
def test_a_version_is_held_against_the_one_before(ask, candidate, verdict, says):
    (found,) = judge(ask, "2.7.4", candidate, 0.03, None)
    assert (found.verdict, exit_code([found])) == (verdict, verdict.value)
    assert all(each in found.says for each in says)


def test_a_set_up_is_compared_with_itself_in_the_latest_campaign_of_the_baseline(tmp_path):
    noise = np.random.default_rng(2131)
    for week in ("first", "second"):
        for version in ("2.7.4", "2.7.7"):
            for set_up in ("lfc-on", "lfc-off"):
                write_campaign(tmp_path / week / f"kea-{version}" / set_up, "2.7.7", noise)
                (tmp_path / week / f"kea-{version}" / set_up / "campaign.yaml").unlink()
    home = built(tmp_path / "home", tmp_path / "first", tmp_path / "second", rejects=0)
    for candidate in ("2.7.7", "second"):
        judged = judge(Warehouse.open(home.warehouse).query, "2.7.4", candidate, 0.03, "isc")
        assert [each.pair.configuration.split()[-1] for each in judged] == ["lfc-off", "lfc-on"]


def test_without_a_candidate_another_campaign_than_the_baseline_is_judged(ask):
    (found,) = judge(ask, "kea-2.7.5", None, 0.03, "isc")
    assert found.pair.configuration.startswith("ISC Kea 2.7.7"), "of one batch without times, the last by name"


def test_a_bench_tells_its_false_alarms_and_what_it_finds(ask):
    (line,) = self_test(ask, "2.7.4", 0.03, "isc").splitlines()
    words = line.partition(": ")[2].split()
    assert words[:4] == ["9", "runs", "against", "9,"]
    assert float(words[6]) <= 5
    assert int(words[-2]) >= 80
    for goal, refusal in ((None, "has 4 runs"), ("2.5 %", "the goals are ndr, permille, pdr, moj, isc")):
        with pytest.raises(DroplineError, match=refusal):
            self_test(ask, "2.7.7", 0.03, goal)


def test_the_command_line_gives_markdown_junit_and_an_exit_code(home, tmp_path):
    itself = ("2.7.6", "--candidate", "2.7.6")
    slower = dropline("gate", "--baseline", "2.7.4", *itself[1:], "--junit", tmp_path / "gate.xml", home=home.root)
    assert slower.code == 1, slower.stderr
    assert slower.stdout.startswith("Fails if 2.7.6 is slower by 3 % than 2.7.4: 1 slower.\n\n| configuration | runs |")
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()  # noqa: S314 - our own
    assert (suite.get("tests"), suite.get("failures"), len(suite.findall("testcase/failure"))) == ("1", "1", 1)
    duckdb.connect(tmp_path / "warehouse.duckdb").execute("create table loss_goals as select 'isc' as loss_goal")
    for root, asked, refusal in (
        (home.root, ["1.0.0"], "no version or campaign called '1.0.0' was measured"),
        (home.root, itself, "'2.7.6' cannot be compared with itself"),
        (tmp_path, itself, "If an earlier version of Dropline built this warehouse, type `dropline build`."),
    ):
        refused = dropline("gate", "--baseline", *asked, home=root)
        assert (refused.code, refusal in refused.stderr) == (2, True)


def test_more_runs_do_not_help_where_the_steps_are_too_far_apart_or_nights_differ():
    pair = Pair("x", 5, 5, 0.944, 0.88, 1.01, 0.5)
    others = [pair._replace(width_by_steps=0.13), pair._replace(series_variation=0.02)]
    assert [each.runs_missing(0.03) for each in (pair, *others)] == [2, None, None]


def test_several_comparisons_do_not_make_an_alarm_more_likely():
    pair = Pair("x", 9, 9, 0.96, 0.93, 0.99, 0.02)
    assert pair.verdict(0.03) is Verdict.SLOWER
    assert pair._replace(p_value=0.02 * 3).verdict(0.03) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.99, None, Verdict.PASSED),  # the candidate's ramp ended too soon, yet above the baseline
        (0.90, None, Verdict.UNKNOWN),
        (None, 0.90, Verdict.SLOWER),  # the baseline's ramp ended too soon, yet above the candidate
        (None, 0.99, Verdict.UNKNOWN),
        (None, None, Verdict.UNKNOWN),
    ],
)
def test_one_end_of_the_interval_is_enough_where_it_decides(low, high, verdict):
    assert Pair("x", 9, 9, None, low, high, 0.001).verdict(0.03) is verdict


@pytest.mark.parametrize("condition", ["faster by 3 %", "slower by 0 %", "slower by 300 %", "slower"])
def test_a_condition_that_is_not_understood_is_refused(condition):
    assert parsed("slower by 2.5%") == 0.025
    with pytest.raises(DroplineError, match="such as 'slower by 3 %'"):
        parsed(condition)
