"""The page Runs: facets, search, and the ways on from what was found."""

from collections import Counter

import pytest

from dropline.app import queries, wording
from dropline.app.queries import explore

COLUMNS = {"version": "product_version", "ha": "ha_mode", "unit": "rate_unit"}
TWO = {"protocol": ["DHCPv4", "DHCPv6"], "backend": ["mysql"]}


def found(warehouse, search="", /, **chosen):
    rows = explore.configurations(warehouse, "isc", search, chosen).to_pylist()
    return rows


def counted(warehouse, search="", /, **chosen):
    rows = explore.facets(warehouse, "isc", search, chosen).to_pylist()
    return {(row["facet"], row["value"]): row["configurations"] for row in rows}


def links(app):
    """Label -> address of every link to a page that carries a choice along."""
    found = [link.proto for link in app.get("page_link") if link.proto.query_string]
    return {link.label: f"{link.page}?{link.query_string}" for link in found}


def test_without_choices_every_configuration_is_there_once(warehouse):
    ids = [row["configuration_id"] for row in found(warehouse)]
    assert len(ids) == len(set(ids)) == queries.totals(warehouse)["configurations"]


@pytest.mark.parametrize("facet", [each for each in explore.FACETS if each not in ("tag", "month")])
def test_a_facet_counts_every_configuration_once(warehouse, facet):
    values = [row[COLUMNS.get(facet, facet)] for row in found(warehouse)]
    expected = Counter("not stated" if value is None else str(value) for value in values)
    assert {value: count for (name, value), count in counted(warehouse).items() if name == facet} == expected


def test_tags_and_months_count_for_each_that_a_configuration_has(warehouse):
    counts = counted(warehouse, origin=["measured"])
    tagged = warehouse.query(
        "select sum(configurations) as n from campaigns where origin = 'measured' and list_contains(tags, 'kea')"
    )
    assert counts["tag", "kea"] == tagged["n"][0].as_py() > 0
    assert counts["month", "2021-12"] == 0, "the article was published then, nothing measured"
    assert counted(warehouse)["month", "2021-12"] == len(found(warehouse, month=["2021-12"])) > 0


def test_a_facet_counts_what_the_other_facets_leave(warehouse):
    counts = counted(warehouse, **TWO)
    kept = found(warehouse, **TWO)
    assert {row["protocol"] for row in kept} == {"DHCPv4", "DHCPv6"}
    assert {row["backend"] for row in kept} == {"mysql"}
    assert counts["backend", "mysql"] == len(kept) == kept[0]["matches"]
    assert counts["backend", "memfile"] == len(found(warehouse, protocol=TWO["protocol"], backend=["memfile"]))
    assert counts["protocol", "DNS"] == len(found(warehouse, protocol=["DNS"], backend=["mysql"]))


@pytest.mark.parametrize(
    ("search", "same_as"),
    [
        ("KEA memfile", "memfile kea"),
        ("  kea   memfile ", "kea memfile"),
        ("Kea 2.2 by lease backend and threading", "kea-2.2-backends by"),  # the title of a campaign
    ],
)
def test_every_word_is_searched_in_any_case_and_order(warehouse, search, same_as):
    ids = {row["configuration_id"] for row in found(warehouse, search)}
    assert ids == {row["configuration_id"] for row in found(warehouse, same_as)}
    assert 0 < len(ids) < len(found(warehouse))


def test_findings_and_testbeds_are_searched_too(warehouse):
    assert all("hidden_thread_count" in row["findings"] for row in found(warehouse, "hidden thread count"))
    assert {row["testbed"] for row in found(warehouse, "isc-r340-kea20")} == {"isc-r340-kea20"}


@pytest.mark.parametrize("search", ["nothing' or 1=1 --", "%", "no such word"])
def test_what_is_searched_is_text_and_nothing_else(warehouse, search):
    assert all("%" in row["method"] for row in found(warehouse, search))


def test_a_published_figure_without_a_limit_is_shown_at_every_goal(warehouse):
    rows = found(warehouse, unit=["Mbit/s"])
    assert {(row["loss_goal"], row["status"]) for row in rows} == {("unstated", "published")}
    assert all(row["rate"] for row in rows)


def test_the_address_holds_search_facets_and_goal(open_page, warehouse_home, warehouse):
    app = open_page(warehouse_home, "explore", search="kea", protocol="DHCPv4", origin="measured")
    table = app.dataframe[0].value
    rows = found(warehouse, "kea", protocol=["DHCPv4"], origin=["measured"])
    known = [wording.about(*(row[name] for name in ("rate", "ci_low", "ci_high"))) for row in rows]
    assert list(table["Capacity"]) == pytest.approx(known, nan_ok=True)
    assert app.caption[0].value.startswith(f"DHCPv4 **{len(rows)}** · DHCPv6 **")
    assert not app.warning


def test_one_row_leads_to_compare_run_trend_and_speed_ups(open_page, warehouse_home, warehouse):
    one = next(row for row in found(warehouse, threading=["multi"], origin=["measured"]) if row["status"])
    app = open_page(warehouse_home, "explore", chosen=one["configuration_id"][:12])
    found_links = links(app)
    assert list(found_links)[:3] == ["Open in the comparison", "Open the run", "Open the trend"]
    assert "speedups?tab=Threads&campaign=" in found_links["Speed-ups: Threads"]
    series = queries.row(warehouse, "trends_series_of", configuration_id=one["configuration_id"], loss_goal="isc")[
        "series_id"
    ]
    assert series in {row["series_id"] for row in queries.ask(warehouse, "trends_series", loss_goal="isc").to_pylist()}


def test_several_rows_lead_to_their_comparison(open_page, warehouse_home, warehouse):
    ids = [row["configuration_id"] for row in found(warehouse, backend=["mysql"])][:3]
    found_links = links(open_page(warehouse_home, "explore", chosen=[each[:12] for each in ids]))
    assert list(found_links) == ["Compare the 3 chosen"]
    assert found_links["Compare the 3 chosen"].count("configurations=") == 3


def test_what_was_found_is_told_by_its_fastest(open_page, warehouse_home):
    app = open_page(warehouse_home, "explore", search="DHCPv6 high availability")
    assert "memfile, multi-threaded, load balancing" in app.header[0].value.replace("\\", "")
    assert "times postgresql" in app.markdown[0].value
    mixed = open_page(warehouse_home, "explore", search="kea")
    assert not mixed.header, "rates of DHCPv4 and DHCPv6 are not compared"


@pytest.mark.parametrize(
    ("search", "label", "page"),
    [
        ("2.2-ha", "Campaign: kea-2.2-ha", "explore?campaign=kea-2.2-ha"),
        ("r340-kea20", "Machine: isc-r340-kea20 (published in isc-kb-kea-2.0)", "machines?host="),
        ("dips trends", "Page: Trends and dips of runs", "trends?"),
    ],
)
def test_a_search_leads_to_everything_of_that_name(open_page, warehouse_home, search, label, page):
    found = {
        each.proto.label.replace("\\", ""): f"{each.proto.page}?{each.proto.query_string}"
        for each in open_page(warehouse_home, "explore", search=search).get("page_link")
    }
    assert found[label].startswith(page)


def test_a_search_finds_a_run_by_its_id(open_page, warehouse_home, warehouse):
    run_id = warehouse.query("select run_id from runs order by run_id limit 1")["run_id"][0].as_py()
    app = open_page(warehouse_home, "explore", search=run_id)
    [address] = [each for each in links(app).values() if each.startswith("run?")]
    assert run_id[:6] in address


def test_without_a_goal_each_unit_is_shown_at_its_usual_one(warehouse):
    found = explore.configurations(warehouse, None, "", {"origin": ["measured"]}).to_pylist()
    assert {(row["rate_unit"], row["loss_goal"]) for row in found} == {("leases/s", "isc")}
    units = {"leases/s": "isc", "exchanges/s": "isc", "queries/s": "permille", "connections/s": "permille"}
    assert {unit: queries.usual_goal(unit) for unit in units} == units
    assert queries.usual_goal("queries/s", "leases/s") == queries.usual_goal() == "isc"
