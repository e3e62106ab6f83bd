"""The page that follows a measurement under way."""

import json

from dropline.measure import progress
from dropline.measure.drive import Seen
from dropline.measure.plan import Plan
from dropline.paths import Home

PLAN = Plan.model_validate(
    {
        "campaign": "lab",
        "generator": {"tool": "perfdhcp", "target": "10.0.0.1"},
        "rates": {"from": 100, "to": 1000},
        "configurations": {"single": {}},
    }
)
TRIALS = (
    Seen("single", 1, 800, 0.0, is_exceeding=False, brackets={"isc": (800, None)}, done=0, wanted=5, left_s=None),
    Seen("single", 1, 900, 0.05, is_exceeding=True, brackets={"isc": (800, 900)}, done=1, wanted=5, left_s=240),
)


def test_a_measurement_is_followed_trial_by_trial_and_told_apart_from_a_killed_one(open_page, tmp_path):
    home = Home(tmp_path)
    with progress.shown(PLAN, home.root / "lab", home) as see:
        assert "is starting" in open_page(home.root, "measuring").markdown[0].value
        for seen in TRIALS:
            see(seen)
        page = open_page(home.root, "measuring")
        file = home.root / "measuring.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"pid": 2**22 + 1}))
        assert "was stopped. Run the same command again" in open_page(home.root, "measuring").markdown[0].value
    assert page.markdown[0].value == (
        "**lab**: 1 of 5 runs are done. single, run 1, tried 900/s and lost 5.00 %. About 4 min left."
    )
    (chart,) = page.get("vega_lite_chart")
    assert '"misses the goal"' in chart.proto.spec
    assert page.dataframe[0].value.to_dict("split")["data"] == [["single", 1, "isc", 800, 900]]
    assert progress.current(home.root) is None
