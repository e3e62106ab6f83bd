"""Results of testers as labs keep them: set-ups stay apart, whole tests are runs, and bounds are called bounds."""

import json
from pathlib import Path

import pytest

from tests.homes import asking, built

CAPTURES = Path(__file__).parents[1] / "captures"
TREX = json.loads((CAPTURES / "spirent/trex_ndr_bench.json").read_bytes())
KXDPGUN = (CAPTURES / "dns/tools/kxdpgun/lmdb/Q5000.out").read_text()


def cyberflood(name, place, rate):
    load = {"Desired Connections/s": [[8, 150], [12, 150]], "Current Connections/s": [[8, rate], [12, rate]]}
    raw = {"Summary": {"Executed": 600, "Passed": 600, "Failed": 0, "Test Duration": 4}, "Load Specification": load}
    return {"runId": f"{name}{place}", "test": {"name": name, "type": "HTTP"}, "startedAt": f"{place}", "raw": raw}


KEPT = {
    "cyberflood/runs.json": json.dumps([cyberflood(*each) for each in (("a", 1, 99), ("b", 2, 59), ("a", 3, 101))]),
    **{
        f"trex/ndr_20261{month}01.json": json.dumps(TREX | {"results": TREX["results"] | {"rx_pps": rate}})
        for month, rate in enumerate((907_100, 907_300))
    },
    **{f"kxdpgun/{rate}qps.txt": KXDPGUN.replace("5003 pps", f"{rate} pps") for rate in (1000, 5003)},
    "frames/1.csv": (CAPTURES / "spirent/2544-Tput-Summary-1_2012-05-14_10-20-30.csv").read_text(),
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    root = tmp_path_factory.mktemp("kept")
    for path, text in KEPT.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    with asking(built(tmp_path_factory.mktemp("home"), *root.iterdir())) as asked:
        yield asked


@pytest.mark.parametrize(
    ("campaign", "figures"),
    [
        ("cyberflood", [("HTTP a", 2, 100, "generator_limited"), ("HTTP b", 1, 59, "generator_limited")]),
        ("trex", [("ndr", 2, 907_200, "never_exceeded")]),
        ("frames", [("512 B frames", 1, 466_255, "never_exceeded"), ("64 B frames", 1, 1_813_631, "bracketed")]),
    ],
)
def test_figures_are_those_of_the_tests(warehouse, campaign, figures):
    found = warehouse(
        """select configuration, runs, round(rate), status from capacity
        where campaign = ? and loss_goal = 'permille' and not regexp_matches(configuration, '1518|iMIX')
        order by configuration""",
        campaign,
    )
    assert found == figures


def test_an_open_load_without_loss_gives_the_highest_lower_bound(warehouse):
    assert warehouse("select kind, rate, runs from queries_per_second where campaign = 'kxdpgun'") == [
        ("lower bound", 5003, 1)
    ]
