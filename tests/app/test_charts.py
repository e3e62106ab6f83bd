"""Charts are tables turned into Vega-Lite: what they promise can be read in the specification."""

import json
import re

import pandas as pd
import pytest

from dropline.app.charts import intervals, panel, ramp, recovery, theme


def steps(limit_crossed=True):
    losses = [0, 0.001, 0.02, 0.2 if limit_crossed else 0.021]
    return pd.DataFrame(
        {
            "label": "mysql multi",
            "line": "run 1",
            "backend": "mysql",
            "offered_rate": [1000.0, 2000, 3000, 4000],
            "achieved_rate": [1000.0, 1998, 2950, 3200],
            "loss_ratio": losses,
            "lowest_loss_ratio": losses,
            "highest_loss_ratio": losses,
            "runs": 1,
        }
    )


def capacities():
    return pd.DataFrame(
        {
            "configuration_id": ["a", "b", "c"],
            "row": ["memfile multi", "mysql single", "odd"],
            "label": ["memfile multi (a)", "mysql single (a)", "odd (b)"],
            "backend": ["memfile", "mysql", "brand-new"],
            "origin": ["measured", "measured", "published"],
            "rate": [18977.0, 2559.0, None],
            "ci_low": [18000.0, None, None],
            "ci_high": [19500.0, None, None],
            "shown": ["18,977", "≥ 2,559", "-"],
            "sign": ["", "≥", ""],
            "interval_kind": ["confidence", "bracket", "none"],
            "interval": ["95 % interval 18,000 to 19,500", "-", "-"],
            "runs": [9.0, 5.0, None],
            "quality": ["✓ ok", "⚠ warning", "✓ ok"],
        }
    )


@pytest.mark.parametrize(
    ("chart", "axes"),
    [
        (ramp.loss_over_rate(steps(), 0.01, "% of sent", "leases/s", "It breaks"), ["(leases/s)", "% of sent"]),
        (panel.capacities(capacities(), "queries/s", "It is fast", ""), ["queries/s"]),
        (
            recovery.against_capacities(
                pd.DataFrame({"t_s": [1.0, 60.0], "lps": [2.0, 2.0]}),
                pd.DataFrame(columns=list(recovery.CAPACITIES)),
                "a",
                "b",
            ),
            ["per second", "Time after"],
        ),
    ],
)
def test_a_chart_names_its_units_says_its_finding_and_has_a_text_alternative(chart, axes):
    spec = chart.to_dict(validate=True)
    variants = re.findall(r"\[.*?\]", spec["title"]["text"]["expr"].replace("containerSize()[0]", ""))
    findings = {" ".join(json.loads(each)) for each in variants}
    assert len(findings) == 1, "the same words, broken for each width"
    assert spec["description"].startswith(findings.pop())
    titles = [
        str(layer["encoding"][axis].get("title"))
        for layer in spec["layer"]
        for axis in ("x", "y")
        if axis in layer["encoding"]
    ]
    for axis in axes:
        assert any(axis in title for title in titles), titles


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(
    "colour", [*theme.BACKEND_COLOURS.values(), *theme.SPARE_COLOURS, theme.NEUTRAL, theme.LIMIT_COLOUR]
)
def test_colours_stand_out_on_light_and_on_dark_ground(colour):
    on_white = 1.05 / (luminance(colour) + 0.05)
    on_dark = (luminance(colour) + 0.05) / (luminance("#191815") + 0.05)
    assert min(on_white, on_dark) >= 3  # WCAG 2.2, 1.4.11


def test_a_bracket_is_drawn_as_another_thing_than_an_interval_and_runs_as_ticks():
    ends = {"ci_low": [18000.0, 2400.0, None], "ci_high": [19500.0, 3900.0, None]}
    table = capacities().assign(loss_goal="isc", **ends)
    runs = pd.DataFrame({"row": "mysql single", "rate": [2400.0, 4100.0], "run": ["run 1", "run 2"]})
    spec = panel.capacities(table, "leases/s", "", panel.described(table), runs).to_dict(validate=True)
    tests = {layer["mark"]["type"]: layer["transform"][0]["filter"] for layer in spec["layer"][:3]}
    assert 'interval_kind === "bracket"' in tests["bar"]
    assert 'interval_kind === "confidence"' in tests["rule"]
    assert "ight: bracket" in spec["description"]
    assert "line: 95 % interval" in spec["description"]
    assert [row["end"] for row in spec["datasets"][spec["data"]["name"]][:2]] == [19500, 4100], "beyond all known"
    assert [row["rate"] for row in spec["datasets"][spec["layer"][-1]["data"]["name"]]] == [2400, 4100]


def test_the_fastest_is_never_one_whose_bound_may_hide_any_value():
    below = capacities().assign(rate=[18977.0, 2559.0, 1.0], shown=["< 18,977", "≥ 2,559", "1"])
    assert panel.fastest(below, "leases/s") == "Highest known: ≥ 2,559 leases/s, mysql single"
    both = below.assign(rate=[2000.0, 2559.0, 1.0])
    assert panel.fastest(both, "leases/s") == "Fastest measured: ≥ 2,559 leases/s, mysql single"
    assert panel.fastest(both.assign(sign="≥"), "leases/s").startswith("Highest known: ≥ 2,559")
    assert panel.fastest(both.assign(shown="< 2,000"), "") == "No set-up is known to reach 2,000 "


def test_the_seconds_of_a_trial_say_when_the_losses_begin():
    seconds = pd.DataFrame(
        {
            "t_s": [1.0, 2, 3, 3],
            "exchange": "REQUEST-ACK",
            "series": ["drops", "drops", "drops", "sent"],
            "packets_per_s": [0.0, 12, 40, 900],
        }
    )
    begins = "REQUEST-ACK: the loss begins in second 2; the worst is 40 packets/s in second 3"
    for frame, told in ((seconds, begins), (seconds.assign(packets_per_s=0.0), "no packet was lost")):
        drawn = intervals.second_by_second(frame, [0, 3], intervals.pauses(frame))
        assert told in drawn.to_dict(validate=True)["description"]


@pytest.mark.parametrize(("configurations", "marked"), [(2, True), (400, False)])
def test_the_steps_of_known_curves_are_marked_where_they_can_be_told_apart(configurations, marked):
    known = pd.concat(
        steps().assign(configuration_id=str(each), configuration="memfile", runs=9) for each in range(configurations)
    )
    trial = pd.DataFrame({"trial": ["line 1"], "offered_rate": [1500.0], "loss_ratio": [0.01]})
    curves = ramp.among_known(known, trial, 0.025, "leases/s", "It stands well").to_dict(validate=True)["layer"][0]
    assert bool(curves["mark"]["point"]) is marked
    said = [each["title"] for each in curves["encoding"]["tooltip"]]
    assert said == (["Known", "Offered (leases/s)", "Loss", "Runs"] if marked else ["Known"])


def test_the_room_of_a_chart_is_known_before_it_is_drawn():
    one = theme.room(panel.capacities(capacities().head(1), "leases/s", "", ""))
    assert theme.room(panel.capacities(capacities(), "leases/s", "", "")) >= one + theme.ROW_HEIGHT
