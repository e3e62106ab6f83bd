"""The page that compares: any limit of loss, verdicts on pairs, and what else differs."""

import pandas as pd
import pyarrow as pa
import pytest
from test_pages import charts, label, rows, said

from dropline.app import queries, view_tables, widgets, wording
from dropline.app.charts import theme
from dropline.app.queries import compare as comparing
from tests.homes import changed


@pytest.fixture(scope="session")
def pair(warehouse):
    """Labels of memfile, single- and multi-threaded, without HA."""
    return [
        label(warehouse, protocol="DHCPv4", backend="memfile", threading=threading, ha_mode="none")
        for threading in ("single", "multi")
    ]


@pytest.fixture(scope="session")
def ids(warehouse, pair):
    by_label = {text: configuration_id for configuration_id, text in queries.labels(warehouse).items()}
    return [by_label[each] for each in pair]


@pytest.fixture(scope="session")
def measured(warehouse):
    found = warehouse.query("select configuration_id from configurations where origin = 'measured'")
    return [str(each) for each in found.column(0).to_pylist()]


def test_a_limit_of_ones_own_gives_what_the_named_goal_gives(warehouse, measured):
    goals = [goal for goal in queries.loss_goals(warehouse) if goal["loss_limit"] is not None]
    for goal in goals:
        at = {"configuration_ids": measured, "limit": goal["loss_limit"], "basis": goal["loss_basis"]}
        named = queries.ask(warehouse, "run_capacities", configuration_ids=measured, loss_goal=goal["loss_goal"])
        assert queries.ask(warehouse, "compare_run_capacities_at", **at).to_pylist() == named.to_pylist()
        anew = {
            row["configuration_id"]: row for row in queries.ask(warehouse, "compare_capacities_at", **at).to_pylist()
        }
        for row in queries.capacities(warehouse, goal["loss_goal"], measured).to_pylist():
            same = anew.pop(row["configuration_id"])
            assert (same["rate"], same["status"], same["runs"]) == (
                pytest.approx(row["rate"]),
                row["status"],
                row["runs"],
            )
            if not row["outlier_runs"]:
                assert (same["ci_low"], same["ci_high"]) == (
                    pytest.approx(row["ci_low"]),
                    pytest.approx(row["ci_high"]),
                )
        assert not anew, "configurations without a figure in the mart"


def test_capacities_never_fall_as_the_limit_rises(warehouse, measured):
    last = {}
    for limit in (0, 0.002, 0.01, 0.04, 0.2, 1):
        table = queries.ask(
            warehouse, "compare_run_capacities_at", configuration_ids=measured, limit=limit, basis="packet"
        ).to_pylist()
        found = {row["run_id"]: row["rate"] for row in table}
        assert set(last) <= set(found), "a run that passed at a stricter limit"
        last = found
    assert last


def test_typing_a_limit_moves_line_and_capacities(open_page, warehouse_home, pair):
    app = open_page(warehouse_home, "compare", configurations=pair)
    before = charts(app)
    app.number_input("limit").set_value(0.3).run()
    assert not app.exception
    after = charts(app)
    assert app.selectbox("goal").value == "a limit of my own"
    assert "red: the limit of 0.3 %" in after[1]["description"]
    assert before[0]["description"] != after[0]["description"], "capacities"
    assert "differences are not tested" in said(app)
    assert not [table for table in app.dataframe if "Verdict" in table.value.columns]


def test_typing_the_limit_of_a_goal_is_that_goal(open_page, warehouse_home, pair):
    app = open_page(warehouse_home, "compare", configurations=pair)
    app.number_input("limit").set_value(0.5).run()
    assert app.selectbox("goal").value == "pdr"
    app.selectbox("goal").set_value("moj").run()
    assert (app.number_input("limit").value, app.segmented_control("basis").value) == (1.0, "lease")
    assert "red: the limit of 1 %" in charts(app)[1]["description"]


@pytest.mark.parametrize(
    ("address", "limit", "basis", "goal"),
    [
        ({}, 2.5, "worst_exchange", "isc"),
        ({"limit": "0.3"}, 0.3, "worst_exchange", "a limit of my own"),
        ({"basis": "all packets"}, 2.5, "packet", "a limit of my own"),
        ({"goal": "moj: 1 % of whole leases"}, 1.0, "lease", "moj"),
        ({"goal": "ndr: 0 % of any exchange", "limit": "0"}, 0.0, "worst_exchange", "ndr"),
    ],
    ids=["nothing", "limit", "basis", "goal", "goal and limit"],
)
def test_the_address_sets_limit_basis_and_goal(open_page, warehouse_home, pair, address, limit, basis, goal):
    app = open_page(warehouse_home, "compare", configurations=pair, **address)
    shown = (app.number_input("limit").value, app.segmented_control("basis").value, app.selectbox("goal").value)
    assert shown == (limit, basis, goal)


def test_the_verdict_on_one_pair_is_that_of_the_sql_function(warehouse, ids):
    [pair] = comparing.verdicts(warehouse, "isc", ids).to_pylist()
    [alone] = warehouse.query(
        "select * from compare($a, $b) where loss_goal = 'isc'", {"a": ids[0], "b": ids[1]}
    ).to_pylist()
    for name in ("ci_low", "ci_high", "p_value", "verdict", "runs_a", "runs_b"):
        assert pair[name] == alone[name], name
    assert pair["ratio"] == alone["ratio_interpolated"], "that of the interval, not that of ISC's figures"
    assert pair["p_value_holm"] == alone["p_value"]
    assert pair["verdict"] in ("faster", "slower"), "9 runs against 5 that do not overlap"


def test_more_pairs_need_more_evidence(warehouse, measured):
    pairs = comparing.verdicts(warehouse, "isc", measured).to_pandas()
    assert len(pairs) == len(measured) * (len(measured) - 1) // 2
    tested = pairs.dropna(subset=["p_value"]).sort_values("p_value")
    assert (tested["p_value_holm"] >= tested["p_value"]).all()
    assert tested["p_value_holm"].iloc[0] == pytest.approx(min(1, len(tested) * tested["p_value"].iloc[0]))
    assert tested["p_value_holm"].is_monotonic_increasing
    claimed = pairs["verdict"].isin(["faster", "slower"])
    assert (pairs.loc[claimed, "p_value_holm"] <= 0.05).all()
    alone = (pairs["ci_low"] > 1) | (pairs["ci_high"] < 1)
    assert (pairs["verdict"].str.startswith("probably ") == alone & ~claimed).all()
    shown = pairs.dropna(subset=["p_value"])
    assert shown["ratio"].between(shown["ci_low"], shown["ci_high"]).all(), "no ratio outside its own interval"
    assert (pairs.loc[pairs["p_value"].isna(), "verdict"] == "not testable").all()


def test_a_visit_begins_with_the_widest_fair_pair_and_says_why(open_page, warehouse_home):
    app = open_page(warehouse_home, "compare")
    assert len(app.multiselect("configurations").value) == 2
    assert "To start with: the largest fair difference. Two backends" in said(app)
    assert "times as much as" in said(app)
    app.multiselect("configurations").set_value([]).run()
    assert not app.exception
    assert "Choose the configurations to compare" in said(app)


def test_a_second_version_is_what_a_visit_begins_with(open_page, warehouse_home, ids, tmp_path):
    single, multi = ids
    home = changed(
        *(warehouse_home, tmp_path, "update trends set product_version = '2.4.0' where configuration_id = $multi"),
        "update trends set place = place + 100, series_id = (select any_value(series_id) from trends as others "
        "where configuration_id = $single and others.loss_goal = trends.loss_goal) where configuration_id = $multi",
        single=single,
        multi=multi,
    )
    app = open_page(home, "compare")
    assert "the newest version against the one before" in said(app)
    assert app.multiselect("configurations").value == [single, multi]


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (1.08, "8 % more than"),
        (0.692, "31 % less than"),
        (1.004, "0.4 % more than"),
        (1.0, "as much as"),
        (2.5, "2.5 times as much as"),
        (1.999, "100 % more than"),
    ],
)
def test_a_change_is_said_in_percent_and_beyond_twice_in_times(ratio, said):
    assert wording.change(ratio) == said


def test_the_interval_of_a_change_is_signed():
    assert wording.change_interval(1.05, 1.11) == " (95 %: +5 to +11 %)"
    assert wording.change_interval(0.63, 0.76) == " (95 %: -37 to -24 %)"
    assert wording.change_interval(2.1, 2.9) == " (95 %: 2.1 to 2.9 times)"
    assert wording.change_interval(None, None) == wording.change_interval(float("nan"), float("nan")) == ""


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], "Same hardware; no setting differs."),
        ([("configuration", "backend", "unfair", True, True)], "Same hardware; only the backend differs."),
        (
            [("configuration", "threading", "unfair", True, True), ("configuration", "threads", "unfair", True, True)],
            "Same hardware; only the threading differs.",
        ),
        (
            [("configuration", "backend", "unfair", True, True), ("configuration", "ha_mode", "unfair", True, True)],
            "Same hardware; 2 settings differ at once (backend, ha mode), so the ratio shows no single effect.",
        ),
        (
            [("hardware", "cpu_cores", "unfair", False, False), ("method", "period", "unfair", False, False)],
            "Other hardware (cpu cores); no setting differs. Not fair: period.",
        ),
        (
            [("configuration", "ha_mode", "unfair", True, True), ("campaign", "campaign", "minor", False, False)],
            "Same hardware, but measured in another campaign; only the ha mode differs.",
        ),
        (
            [("hardware", "cpu_cores", "unknown", False, False)],
            "The hardware of one side is not stated; no setting differs.",
        ),
    ],
    ids=[
        "nothing",
        "one factor",
        "threads go with threading",
        "two factors",
        "unfair",
        "two campaigns",
        "one side is silent",
    ],
)
def test_what_differs_is_said_in_one_sentence(rows, expected):
    found = pd.DataFrame(rows, columns=["aspect", "item", "grade", "is_factor", "is_asked"])
    assert view_tables.what_differs(found, pa.table({"cpu_model": ["Xeon", "Xeon"]})) == expected


def test_runs_that_alternate_are_told_from_runs_one_after_the_other(warehouse):
    ids = {
        (row["backend"], row["threading"], row["ha_mode"]): row["configuration_id"]
        for row in warehouse.query(
            "select * from configurations where origin = 'measured' and protocol = 'DHCPv4'"
        ).to_pylist()
    }
    memfile, threads = ids["memfile", "single", "none"], ids["memfile", "multi", "none"]
    mysql, once = ids["mysql", "single", "none"], ids["memfile", "single", "hot-standby"]
    asked = [(memfile, threads), (memfile, mysql), (mysql, memfile), (memfile, once)]
    assert queries.are_in_turn(warehouse, asked) == {
        (memfile, threads): True,
        (memfile, mysql): False,
        (mysql, memfile): False,
    }, "of a single run nothing can be said"
    assert queries.are_in_turn(warehouse, []) == {}


def test_what_is_compared_is_no_reproach(open_page, warehouse_home, pair):
    app = open_page(warehouse_home, "compare", configurations=pair)
    found = rows(app, "Why it matters").set_index("What")
    assert found.loc["threading", "Grade"] == "what you compare"
    assert set(found.columns[2:4]) == {"single", "multi x4"}
    assert ":orange[▼] **multi x4 gives" in said(app)
    assert "Same hardware; only the threading differs" in said(app)


def test_a_pair_of_two_campaigns_is_shown_with_what_these_say_of_themselves(open_page, warehouse_home, warehouse, pair):
    other = label(warehouse, protocol="DHCPv4", threading="multi", ha_mode="hot-standby")
    shown = said(open_page(warehouse_home, "compare", configurations=[pair[1], other])).replace("\\", "")
    assert "measured in another campaign; only the ha mode differs" in shown
    assert "less than ISC Kea 2.2.0 DHCPv4 memfile multi x4 (kea-2.2-backends)" in shown
    assert "Both servers shared one core of a virtual machine" in shown


def test_published_configurations_that_differ_in_no_factor_can_be_compared(open_page, warehouse_home, warehouse):
    twins = [text for text in queries.labels(warehouse).values() if text.startswith("ISC BIND 9 9 DNS forwarding")]
    shown = said(open_page(warehouse_home, "compare", configurations=twins[:2])).replace("\\", "")
    assert "no setting differs" in shown


def test_all_that_is_known_stands_side_by_side(open_page, warehouse_home, pair):
    facts = rows(open_page(warehouse_home, "compare", configurations=pair), "Factor").set_index("Factor")
    assert {"kernel", "memory bytes", "backend", "cpu model"} <= set(facts.index)
    assert (facts.loc["threading", "Differs"], facts.loc["cpu model", "Differs"]) == ("≠", "")


def test_configurations_of_one_backend_have_a_colour_each_the_same_in_every_chart(open_page, warehouse_home, pair):
    drawn = charts(open_page(warehouse_home, "compare", configurations=pair))
    encodings = [
        next(part["encoding"]["color"] for part in each["layer"] if "color" in part["encoding"]) for each in drawn
    ]
    capacities, curves = (dict(zip(each["scale"]["domain"], each["scale"]["range"], strict=True)) for each in encodings)
    assert capacities == curves
    assert len(set(curves.values())) == 2


def test_a_configuration_that_names_no_backend_has_the_neutral_colour():
    scale = theme.backend_scale(pd.Series([None, "mysql", float("nan")], dtype=object)).to_dict()
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == {
        "mysql": theme.BACKEND_COLOURS["mysql"],
        "": theme.NO_BACKEND,
    }


def test_many_configurations_are_searched_for(open_page, warehouse_home, pair, monkeypatch):
    monkeypatch.setattr(widgets, "MOST_OPTIONS", 5)
    app = open_page(warehouse_home, "compare", configurations=pair)
    offered = app.multiselect("configurations").options
    assert set(pair) <= set(offered)
    assert len(offered) <= 5 + len(pair)
    assert "The list shows the first 5 of" in said(app)
    app.text_input("configurations_search").set_value("POSTGRESQL dhcpv6").run()
    assert not app.exception
    found = set(app.multiselect("configurations").options) - set(pair)
    assert found
    assert all("DHCPv6" in each and "postgresql" in each for each in found)
    assert len(app.multiselect("configurations").value) == 2, "what was chosen stays"


def test_the_loss_goal_is_the_usual_one_of_what_is_chosen_until_the_visitor_takes_another(
    open_page, warehouse_home, warehouse, measured
):
    labels = queries.labels(warehouse)
    dns = warehouse.query("select configuration_id from configurations where protocol = 'DNS' order by all limit 2")[
        "configuration_id"
    ].to_pylist()
    app = open_page(warehouse_home, "compare", configurations=[labels[each] for each in dns])
    assert (app.selectbox("goal").value, app.number_input("limit").value) == ("permille", 0.1)
    app.multiselect("configurations").set_value(measured[:2]).run()
    assert (app.selectbox("goal").value, app.number_input("limit").value) == ("isc", 2.5)
    app.selectbox("goal").set_value("pdr").run()
    app.multiselect("configurations").set_value(dns).run()
    assert (app.selectbox("goal").value, app.number_input("limit").value) == ("pdr", 0.5)
