"""The home page: what is new against the figures."""

from dropline.app import queries
from dropline.app.warehouse import Warehouse
from tests.app.shown import links, rows
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
