"""The home page: what is new against the figures."""

from dropline.app import queries
from dropline.app.warehouse import Warehouse
from tests.app.shown import links, rows, said
from tests.homes import changed


def test_fresh_findings_lead_to_the_same_findings(open_page, warehouse_home, warehouse):
    first = queries.ask(warehouse, "results_fresh_findings").to_pylist()[0]
    found = links(open_page(warehouse_home))
    [way] = [link for label, link in found.items() if label.startswith(f"**{first['findings']:,}** ")]
    app = open_page(warehouse_home, way.page, **way.choices)
    assert way.choices["campaign"] == first["campaigns"]
    assert len(rows(app, "Finding")) == first["findings"]


def test_findings_of_older_batches_are_not_fresh(warehouse_home, tmp_path):
    newest = "update campaigns set last_batch = 'zz' where campaign = 'kea-2.2-backends'"
    later = Warehouse.open(changed(warehouse_home, tmp_path, newest) / "warehouse.duckdb")
    assert queries.row(later, "results_freshness")["campaigns"] == ["kea-2.2-backends"]
    fresh = queries.ask(later, "results_fresh_findings").to_pylist()
    assert {each for row in fresh for each in row["campaigns"]} <= {"kea-2.2-backends"}


def test_an_empty_lake_has_nothing_fresh(published_home):
    nothing = Warehouse.open(published_home / "warehouse.duckdb")
    assert queries.row(nothing, "results_freshness") == {"last_started_at": None, "last_batch": None, "campaigns": []}


def test_nights_of_one_set_up_do_not_hide_the_others(open_page, warehouse_home, tmp_path):
    one = "(select min(configuration_id) from runs where configuration = 'ISC Kea 2.2.0 DHCPv4 memfile multi x4')"
    copied = "select {0}.* replace ('night' || night as {1}{2}) from {0}, range(20) as nights(night) where {1} = "
    night = f"insert into {{0}} {copied}"
    older = ", 'night' || night as campaign, false as is_newest"
    home = changed(
        warehouse_home,
        tmp_path,
        night.format("ratios", "treatment_configuration_id", "") + one,
        night.format("capacity", "configuration_id", older) + one,
        night.format("configurations", "configuration_id", older) + one,
        "update capacity set rate = 20000 where campaign like 'night%'",
    )
    told = said(open_page(home))
    assert "memfile, 1 thread: at least 12,178 leases/s" in told
    assert "Only the newest results; 20 earlier ones of the same set-ups are in Trends" in links(open_page(home))
    assert "20,000 leases/s" in said(open_page(home, only_campaign="night7"))
    assert "Only the newest results; choose campaigns for 20 earlier pairs." in said(open_page(home, "speedups"))
