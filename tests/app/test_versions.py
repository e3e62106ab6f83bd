"""What a version changed: counted, sorted, and told on the page and on the home page."""

import pytest

from dropline.app import headlines, queries, wording
from dropline.app.warehouse import Warehouse
from dropline.report import content
from tests.app.shown import links
from tests.homes import changed


@pytest.fixture(scope="module")
def two_versions(warehouse_home, tmp_path_factory):
    """The examples, in which the runs with four threads are told as those of version 2.4.0 of the same set-ups."""
    return changed(
        warehouse_home,
        tmp_path_factory.mktemp("versions"),
        """
        update trends set product_version = '2.4.0', place = place + 100, series_id = single.series_id
        from (
            select distinct protocol, backend, loss_goal, series_id
            from trends where threading = 'single' and campaign = 'kea-2.2-backends'
        ) as single
        where trends.threading = 'multi' and trends.campaign = 'kea-2.2-backends'
            and trends.protocol = single.protocol and trends.backend = single.backend
            and trends.loss_goal = single.loss_goal
        """,
    )


def test_the_same_set_ups_of_two_versions_are_known_and_others_are_not(two_versions, warehouse):
    [found] = queries.ask(
        Warehouse.open(two_versions / "warehouse.duckdb"), "versions_known", loss_goal=None
    ).to_pylist()
    assert found.pop("title") == "ISC Kea 2.4.0 against 2.2.0"
    assert found == {"product": "ISC Kea", "version": "2.4.0", "previous_version": "2.2.0", "set_ups": 4}
    assert queries.row(warehouse, "versions_known", loss_goal=None) == {}


def test_the_page_counts_what_changed_and_shows_the_largest_real_change_first(open_page, two_versions):
    opened = Warehouse.open(two_versions / "warehouse.duckdb")
    title, changes = queries.since_versions(opened, None)
    counted = headlines.changes([row["verdict"] for row in changes])
    app = open_page(two_versions, "versions")
    assert app.header[0].value.replace("\\", "") == f"ISC Kea 2.4.0 against 2.2.0: {counted}"
    table = app.dataframe[0].value
    real = [row["ratio"] for row in changes if row["verdict"] in headlines.DECIDED]
    assert list(table["Change"])[: len(real)] == [wording.percent(ratio) for ratio in sorted(real)]
    memfile = table[table["Set-up"] == "DHCPv4 memfile"].iloc[0]
    shown = ["-32 %", "▼ slower", "9 and 5", "≈ 12,178", "≥ 8,488"]
    assert list(memfile[["Change", "Verdict", "Runs", "2.2.0", "2.4.0"]]) == shown
    said, changed_most, *_ = content.report(opened, ["kea-2.2-backends"]).sections[0].blocks
    assert said == f"{title}: {counted}."
    assert changed_most[1] == "-32 % (95 %: -42 to -21 %): ISC Kea 2.2.0 DHCPv4 memfile multi x4"


def test_the_home_page_says_what_the_newest_version_changed_and_leads_there(open_page, two_versions):
    app = open_page(two_versions)
    assert app.header[0].value.replace("\\", "").startswith("ISC Kea 2.4.0 against 2.2.0: ")
    assert "Set-up by set-up" in links(app)


def test_a_comparison_begins_with_the_newest_version_against_the_one_before(open_page, two_versions, warehouse):
    app = open_page(two_versions, "compare")
    assert "the newest version against the previous one" in app.caption[0].value
    chosen = app.multiselect("configurations").value
    facts = queries.ask(warehouse, "factors", configuration_ids=chosen).to_pylist()
    threading = {row["configuration_id"]: row["threading"] for row in facts}
    assert [threading[each] for each in chosen] == ["single", "multi"]
    assert len({(row["protocol"], row["backend"]) for row in facts}) == 1
