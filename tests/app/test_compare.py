"""The page that compares: any limit of loss, verdicts on pairs, and what else differs."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
import yaml

from dropline.app import queries, view_tables
from dropline.app.charts import theme
from tests.app.shown import charts, rows
from tests.homes import changed

DIFFERING = yaml.safe_load(Path(__file__).with_name("differing.yml").read_text("utf-8"))


@pytest.fixture(scope="session")
def ids(warehouse):
    """The measured configurations by protocol, backend, threading and HA."""
    found = warehouse.query("select * from configurations where origin = 'measured'").to_pylist()
    dimensions = ("protocol", "backend", "threading", "ha_mode")
    return {tuple(row[each] for each in dimensions): row["configuration_id"] for row in found}


@pytest.fixture(scope="session")
def pair(ids):
    """memfile, single- and multi-threaded, without HA."""
    return [ids["DHCPv4", "memfile", threading, "none"] for threading in ("single", "multi")]


def test_a_limit_of_ones_own_gives_what_the_named_goal_gives(warehouse, ids):
    for goal in queries.loss_goals(warehouse):
        if goal["loss_limit"] is not None:
            at = {"limit": goal["loss_limit"], "basis": goal["loss_basis"], "configuration_ids": [*ids.values()]}
            of_goal = {"configuration_ids": [*ids.values()], "loss_goal": goal["loss_goal"]}
            named = queries.ask(warehouse, "run_capacities", **of_goal)
            assert queries.ask(warehouse, "compare_run_capacities_at", **at) == named
            capacities = queries.ask(warehouse, "capacities", **of_goal).to_pylist()
            anew = queries.ask(warehouse, "compare_capacities_at", **at).to_pylist()
            shared = ("configuration_id", "status", "rate", "runs")
            assert [[row[each] for each in shared] for row in anew] == [
                [row[each] for each in shared] for row in capacities
            ]


def test_a_limit_that_is_typed_moves_line_and_capacities_and_may_be_that_of_a_goal(open_page, warehouse_home, pair):
    app = open_page(warehouse_home, "compare", configurations=pair)
    before = charts(app)
    app.number_input("limit").set_value(0.3).run()
    after = charts(app)
    assert app.selectbox("goal").value == "a limit of my own"
    assert "red: the limit of 0.3 %" in after[1]["description"]
    assert before[0]["description"] != after[0]["description"], "capacities"
    assert not [table for table in app.dataframe if "Verdict" in table.value.columns], "differences are not tested"
    app.number_input("limit").set_value(0.5).run()
    assert app.selectbox("goal").value == "pdr"
    app.selectbox("goal").set_value("moj").run()
    assert app.number_input("limit").value == 1.0
    assert "Loss (whole leases, % of sent)" in str(charts(app)[1])
    app.multiselect("configurations").set_value([]).run()
    assert not app.exception
    assert "Choose the configurations to compare" in app.info[0].value


def test_sentence_and_table_name_the_same_known_end_where_one_ramp_ends_too_soon(
    open_page, warehouse_home, pair, tmp_path
):
    ended = "status = 'never_exceeded', rate_interpolated = null, ci_high = null"
    home = changed(warehouse_home, tmp_path, f"update capacity set {ended} where configuration_id = '{pair[0]}'")
    app = open_page(home, "compare", configurations=pair)
    evidence = next(table.value for table in app.dataframe if "Verdict" in table.value.columns)
    [[sign, ratio]] = evidence[["Ratio: bound", "Ratio"]].to_numpy()
    assert sign == "≤"
    assert f"at most {ratio:.3f} times as much" in app.markdown[0].value


@pytest.mark.parametrize(
    ("address", "limit", "loss", "goal"),
    [
        ({}, 2.5, "worst exchange", "isc"),
        ({"limit": "0.3"}, 0.3, "worst exchange", "a limit of my own"),
        ({"goal": "MOJ (1 % of whole leases)"}, 1.0, "whole leases", "moj"),
        ({"goal": "NDR (0 %)", "limit": "0"}, 0.0, "worst exchange", "ndr"),
    ],
    ids=["nothing", "limit", "goal", "goal and limit"],
)
def test_the_address_sets_limit_and_goal(open_page, warehouse_home, pair, address, limit, loss, goal):
    app = open_page(warehouse_home, "compare", configurations=pair, **address)
    assert (app.number_input("limit").value, app.selectbox("goal").value) == (limit, goal)
    assert f"Loss ({loss}, % of sent)" in str(charts(app)[1])


def test_the_verdict_on_one_pair_is_that_of_the_sql_function_and_on_the_page(
    open_page, warehouse_home, warehouse, pair
):
    [found] = queries.verdicts(warehouse, "compare_pairs", configuration_ids=pair, loss_goal="isc").to_pylist()
    [alone] = warehouse.query(
        "select * from compare($a, $b) where loss_goal = 'isc'", dict(zip("ab", pair, strict=True))
    ).to_pylist()
    for name in ("ci_low", "ci_high", "p_value", "verdict", "runs_a", "runs_b"):
        assert found[name] == alone[name], name
    assert found["ratio"] == alone["ratio_interpolated"], "that of the interval, not that of ISC's figures"
    assert found["p_value_holm"] == alone["p_value"]
    app = open_page(warehouse_home, "compare", configurations=pair)
    shown = rows(app, "Rate of").iloc[0]
    assert (shown["Ratio"], shown["Runs"]) == (pytest.approx(1 / found["ratio"]), "5 and 9"), (
        "the second over the first"
    )
    assert rows(app, "Why it matters").set_index("What").loc["threading", "Grade"] == "what you compare"
    facts = rows(app, "Factor").set_index("Factor")
    assert {"kernel", "memory", "backend", "CPU model"} <= set(facts.index)
    assert (facts.loc["threading", "Differs"], facts.loc["CPU model", "Differs"]) == ("≠", "")
    scales = [
        next(layer["encoding"]["color"]["scale"] for layer in each["layer"] if "color" in layer["encoding"])
        for each in charts(app)
    ]
    capacities, curves = (dict(zip(each["domain"], each["range"], strict=True)) for each in scales)
    assert capacities == curves, "one backend, but a colour each, the same in every chart"
    assert len(set(curves.values())) == 2


def test_more_pairs_need_more_evidence(warehouse, ids):
    asked = {"configuration_ids": [*ids.values()], "loss_goal": "isc"}
    pairs = queries.verdicts(warehouse, "compare_pairs", **asked).to_pandas()
    assert len(pairs) == len(ids) * (len(ids) - 1) // 2
    tested = pairs.dropna(subset=["p_value"]).sort_values("p_value")
    assert (tested["p_value_holm"] >= tested["p_value"]).all()
    assert tested["p_value_holm"].iloc[0] == pytest.approx(min(1, len(tested) * tested["p_value"].iloc[0]))
    assert tested["p_value_holm"].is_monotonic_increasing
    claimed = pairs["verdict"].isin(["faster", "slower"])
    assert (pairs.loc[claimed, "p_value_holm"] <= 0.05).all()
    alone = (pairs["ci_low"] > 1) | (pairs["ci_high"] < 1)
    assert (pairs["verdict"].str.startswith("probably ") == alone & ~claimed).all()
    assert tested["ratio"].between(tested["ci_low"], tested["ci_high"]).all(), "no ratio outside its own interval"
    assert (pairs.loc[pairs["p_value"].isna(), "verdict"] == "not testable").all()


@pytest.mark.parametrize(("differing", "expected"), DIFFERING)
def test_what_differs_is_said_in_one_sentence(differing, expected):
    columns = ["aspect", "item", "grade", "is_factor", "is_asked"]
    found = pd.DataFrame(differing, columns=columns)
    assert view_tables.what_differs(found, pa.table({"cpu_model": ["Xeon", "Xeon"]})) == expected


def test_runs_that_alternate_are_told_from_runs_one_after_the_other(warehouse, ids, pair):
    mysql, once = ids["DHCPv4", "mysql", "single", "none"], ids["DHCPv4", "memfile", "single", "hot-standby"]
    memfile, threads = pair
    asked = {"configuration_ids": [mysql, memfile, mysql, threads, once], "loss_goal": "isc"}
    pairs = queries.verdicts(warehouse, "compare_pairs", **asked).to_pylist()
    found = {(row["configuration_id_a"], row["configuration_id_b"]): row["is_in_turn"] for row in pairs}
    assert (found[memfile, threads], found[memfile, mysql], found[mysql, memfile]) == (True, False, False)
    assert found[memfile, once] is None, "of a single run nothing can be said"


def test_a_configuration_that_names_no_backend_has_the_neutral_colour():
    scale = theme.backend_scale(pd.Series([None, "mysql", float("nan")], dtype=object)).to_dict()
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == {
        "mysql": theme.BACKEND_COLOURS["mysql"],
        "": theme.NEUTRAL,
    }


def test_the_loss_goal_is_the_usual_one_of_what_is_chosen_until_the_visitor_takes_another(
    open_page, warehouse_home, warehouse, pair
):
    found = warehouse.query("select configuration_id from configurations where protocol = 'DNS' order by all limit 2")
    dns = found["configuration_id"].to_pylist()
    app = open_page(warehouse_home, "compare", configurations=dns)
    assert (app.selectbox("goal").value, app.number_input("limit").value) == ("permille", 0.1)
    app.multiselect("configurations").set_value(pair).run()
    assert (app.selectbox("goal").value, app.number_input("limit").value) == ("isc", 2.5)
    app.selectbox("goal").set_value("pdr").run()
    app.multiselect("configurations").set_value(dns).run()
    assert (app.selectbox("goal").value, app.number_input("limit").value) == ("pdr", 0.5)
