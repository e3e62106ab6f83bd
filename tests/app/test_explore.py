"""The page Runs: facets, search, and the ways on from what was found."""

from collections import Counter

import pytest

from dropline.app import queries
from dropline.app.queries import explore
from tests.app.shown import links

COLUMNS = {"version": "product_version", "ha": "ha_mode", "unit": "rate_unit"}
TWO = {"protocol": ["DHCPv4", "DHCPv6"], "backend": ["mysql"]}


def found(warehouse, search="", /, **chosen):
    return explore.Configurations(warehouse, "isc").search(search, chosen).rows.to_pylist()


def counted(warehouse, search="", /, **chosen):
    counts = explore.Configurations(warehouse, "isc").search(search, chosen).counts
    return {(facet, value): count for facet, each in counts.items() for value, count in each.items()}


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
    assert counts["backend", "mysql"] == len(kept)
    assert counts["backend", "memfile"] == len(found(warehouse, protocol=TWO["protocol"], backend=["memfile"]))
    assert counts["protocol", "DNS"] == len(found(warehouse, protocol=["DNS"], backend=["mysql"]))


@pytest.mark.parametrize(
    ("search", "column", "expected"),
    [
        ("  SINGLE   2.2-ha ", "ha_mode", {"hot-standby", "load-balancing"}),
        ("2.2-ha single", "threading", {"single"}),
        ("threading by Kea 2.2 lease", "campaign", {"kea-2.2-backends"}),  # words of its title
        ("kea-2.2-backends postgresql", "backend", {"postgresql"}),  # which the campaign's description names, too
        ("isc-r340-kea20", "testbed", {"isc-r340-kea20"}),
        ("nothing' or 1=1 --", "configuration", set()),
        ("%", "configuration", set()),
    ],
)
def test_every_word_is_searched_as_it_stands_in_any_case_and_order(warehouse, search, column, expected):
    assert {row[column] for row in found(warehouse, search)} == expected


def test_findings_are_searched_too(warehouse):
    rows = found(warehouse, "hidden thread count")
    assert rows
    assert all("hidden_thread_count" in row["findings"] for row in rows)


def test_a_published_figure_without_a_limit_is_shown_at_every_goal(warehouse):
    rows = found(warehouse, unit=["Mbit/s"])
    assert {(row["loss_goal"], row["status"]) for row in rows} == {("unstated", "published")}
    assert all(row["rate"] for row in rows)


def test_the_address_holds_search_facets_and_goal(open_page, warehouse_home, warehouse):
    app = open_page(warehouse_home, "explore", search="kea", protocol="DHCPv4", origin="measured")
    table = app.dataframe[0].value
    rows = found(warehouse, "kea", protocol=["DHCPv4"], origin=["measured"])
    assert list(table["Capacity"]) == pytest.approx([row["rate"] for row in rows], nan_ok=True)
    assert app.caption[0].value.startswith(f"DHCPv4 **{len(rows)}** · DHCPv6 **")
    assert not app.warning


def test_without_a_goal_each_unit_is_shown_at_its_usual_one(warehouse):
    found = explore.Configurations(warehouse, None).search("", {"origin": ["measured"]}).rows.to_pylist()
    assert {(row["rate_unit"], row["loss_goal"]) for row in found} == {("leases/s", "isc")}
    units = {"leases/s": "isc", "exchanges/s": "isc", "queries/s": "permille", "connections/s": "permille"}
    asked = "select unnest($units), unnest(list_transform($units, lambda unit: usual_goal(unit)))"
    assert dict(zip(*warehouse.query(asked, {"units": [*units]}).to_pydict().values(), strict=True)) == units
    goals = [queries.loss_goals(warehouse, some) for some in (["queries/s"], ["queries/s", "leases/s"], [])]
    assert [those[0]["loss_goal"] for those in goals] == ["permille", "isc", "isc"]


def test_chosen_rows_lead_to_compare_run_trend_and_speed_ups(open_page, warehouse_home, warehouse):
    one = next(row for row in found(warehouse, threading=["multi"], origin=["measured"]) if row["status"])
    ways = links(open_page(warehouse_home, "explore", chosen=one["configuration_id"][:12]))
    series = queries.row(warehouse, "trends_series_of", configuration_id=one["configuration_id"], loss_goal="isc")
    assert list(ways)[3:6] == ["Open in the comparison", "Open the run", "Open the trend"]
    known = queries.ask(warehouse, "trends_series", loss_goal="isc").to_pylist()
    assert series["series_id"] in {row["series_id"] for row in known}
    assert ways["Speed-ups: Threads"].choices == {"tab": ["Threads"], "campaign": [one["campaign"]]}
    several = [row["configuration_id"][:12] for row in found(warehouse, backend=["mysql"])][:3]
    ways = links(open_page(warehouse_home, "explore", chosen=several))
    assert len(ways["Compare the 3 chosen"].choices["configurations"]) == 3


@pytest.mark.parametrize(
    ("search", "label", "page", "name"),
    [
        ("2.2-ha", "Campaign: kea-2.2-ha", "explore", "campaign"),
        ("r340-kea20", "Machine: isc-r340-kea20 (published in isc-kb-kea-2.0)", "machines", "host"),
        ("1304f9f301f8", "ISC Kea 2.2.0 DHCPv6 memfile single (kea-2.2-backends), run 2", "run", "run"),
    ],
)
def test_a_search_leads_to_everything_of_that_name(open_page, warehouse_home, search, label, page, name):
    way = links(open_page(warehouse_home, "explore", search=search))[label]
    assert (way.page, name in way.choices) == (page, True)
