"""The page Speed-ups, its ratios and its thread scaling."""

import pandas as pd
import pytest

from dropline.app import queries, wording
from dropline.app.charts import panel, theme
from tests.app.shown import said
from tests.homes import changed


def test_what_is_real_has_a_colour_and_what_may_be_chance_has_none():
    columns = ["row", "ratio", "ci_low", "ci_high", "shown", "verdict"]
    rows = [
        ("a", 2.0, 1.8, 2.2, "2", "faster"),
        ("b", 1.1, None, None, "1.1", "not testable"),
        ("c", 0.8, 0.7, 0.9, "0.8", "probably slower"),
    ]
    pairs = pd.DataFrame(rows, columns=columns).assign(origin="measured")
    spec = panel.ratios(pairs, "Faster", "two pairs").to_dict()
    drawn = spec["datasets"][spec["data"]["name"]]
    assert [row["colour"] for row in drawn] == [panel.VERDICT_COLOURS["faster"], theme.NEUTRAL, "#dd6517"]
    assert spec["layer"][2]["encoding"]["x"]["scale"]["type"] == "log"
    assert spec["layer"][1]["mark"]["type"] == "bar"
    assert spec["layer"][1]["transform"] == [{"filter": "isValid(datum.ci_low) && isValid(datum.ci_high)"}]


@pytest.mark.parametrize("factor", wording.FACTORS)
def test_every_factor_has_pairs_with_ratio_verdict_and_what_else_differs(warehouse, factor):
    pairs = queries.ask(warehouse, "ratio_pairs_ratios", factor=factor).to_pylist()
    assert pairs
    for pair in pairs:
        assert pair["ci_low"] is None or pair["ci_low"] <= pair["ratio"] <= pair["ci_high"]
        assert pair["origin"] == "measured" or pair["ratio"] == pytest.approx(pair["rate"] / pair["reference_rate"])
        assert _verdict_of(pair) == pair["verdict"]
        assert pair["fairness"] in {"same", "minor", "unknown", "unfair"}


def _verdict_of(pair):
    """Return what the interval and the corrected p value on the page come to: the page cannot contradict itself."""
    if pair["ci_low"] is None:
        return "not testable"
    if pair["ci_low"] <= 1 <= pair["ci_high"]:
        return "no evidence"
    return ("" if pair["p_value_holm"] <= 0.05 else "probably ") + ("faster" if pair["ci_low"] > 1 else "slower")


@pytest.mark.parametrize("tab", ["Threads", "High availability", "Backends", "DHCPv6 over DHCPv4"])
def test_each_tab_shows_a_table_of_its_pairs(open_page, warehouse_home, tab):
    table = open_page(warehouse_home, "speedups", tab=tab).dataframe[0].value
    assert len(table) and {"Ratio", "Verdict", "Other differences"} <= set(table.columns)


def test_the_article_s_largest_speed_up_is_there(open_page, published_home):
    table = open_page(published_home, "speedups", campaign="isc-kb-kea-2.0").dataframe[0].value
    assert table["Ratio"].max() == pytest.approx(18.0348, abs=1e-3)
    assert set(table["Verdict"]) == {"not tested"}


def test_a_figure_published_as_more_than_bounds_its_ratios(open_page, published_home):
    table = open_page(published_home, "speedups", tab="Backends").dataframe[0].value
    bounded = table[table["Rate: bound"] == ">"]
    assert sorted(bounded["Ratio"].round(1)) == [10.7, 16.0, 36.4]
    assert set(bounded["Ratio: bound"]) == {"≥"}
    assert {"≈", ""} <= set(table["Ratio: bound"])


def test_threads_of_a_dns_server_are_compared_at_its_usual_goal(open_page, warehouse_home, tmp_path):
    home = changed(warehouse_home, tmp_path, "update ratios set rate_unit = 'queries/s' where factor = 'threading'")
    table = open_page(home, "speedups").dataframe[0].value
    assert (set(table["Unit"]), len(table)) == ({"queries/s"}, 6)  # for isc there are 7


def test_pairs_whose_ramps_end_too_soon_have_no_ratio(open_page, warehouse_home, tmp_path):
    open_ended = (
        "update ratios set ratio = null, ratio_interpolated = null, ci_low = null, ci_high = null, p_value = null, "
        "p_value_holm = null, verdict = 'limits not reached' where factor = 'threading' and origin = 'measured'"
    )
    page = open_page(changed(warehouse_home, tmp_path, open_ended), "speedups")
    assert page.header[0].value.endswith("unknown, as ramps end below their limits")
    assert set(page.dataframe[0].value["Verdict"]) == {"limit not reached"}


def test_thread_scaling_says_with_how_many_threads_it_is_fastest(open_page, published_home):
    page = open_page(published_home, "speedups", tab="Thread scaling")
    assert "sdns 1.8.0 DNS cached: fastest with 16 of 8, 12, 16, 32 threads" in said(page)
    refused = next(text for text in page.selectbox(key="family").options if "Recursor" in text)
    assert "Capacity by threads" in said(open_page(published_home, "speedups", tab="Thread scaling", family=refused))
