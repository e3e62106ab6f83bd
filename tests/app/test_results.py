"""The home page: where it begins, and what is new against the figures."""

from dropline.app import queries
from dropline.app.warehouse import Warehouse
from tests.homes import changed


def test_the_answer_is_the_first_thing_on_the_page(open_page, warehouse_home):
    app = open_page(warehouse_home)
    first, *others = [each.value.replace("\\", "") for each in app.header]
    assert first == "ISC Kea 2.2.0, DHCPv4, memfile, 1 thread: at least 12,180 leases/s"
    assert "Multi-threading costs 14 to 36 % of the rate" in others
    assert "High availability costs 83 to 84 % of the rate" in others
    said = [each.value.replace("\\", "") for each in app.markdown]
    assert "1.5 times as much as with 4 threads on 2 CPUs, 6.6 times postgresql, 8.1 times mysql." in said
    assert any("Both servers shared one core" in each for each in said), "why HA costs so much"


def test_another_loss_goal_changes_the_answer_and_the_address(open_page, warehouse_home):
    app = open_page(warehouse_home, "results", only_goal="ndr: 0 % of any exchange")
    assert "12,180" not in app.header[0].value
    assert not [each for each in app.header if "costs" in each.value], "pairs are tested at the usual goal only"


def test_fresh_findings_lead_to_the_same_findings(open_page, warehouse_home, warehouse):
    first = queries.ask(warehouse, "results_fresh_findings").to_pylist()[0]
    links = [each.proto for each in open_page(warehouse_home).get("page_link")]
    link = next(each for each in links if each.label.startswith("**"))
    assert link.label.startswith(f"**{first['findings']:,}** ")
    address = dict(each.split("=") for each in link.query_string.split("&"))
    assert address["campaign"] in first["campaigns"]
    app = open_page(
        warehouse_home,
        "quality",
        severity={"suspect": "✖ suspect", "warning": "⚠ warning"}[first["severity"]],
        finding=first["finding"].replace("_", " "),
        campaign=first["campaigns"],
    )
    assert len(next(each.value for each in app.dataframe if "Finding" in each.value.columns)) == first["findings"]


def test_findings_of_older_batches_are_not_fresh(warehouse_home, tmp_path):
    newest = "update campaigns set last_batch = 'zz' where campaign = 'kea-2.2-backends'"
    later = Warehouse.open(changed(warehouse_home, tmp_path, newest) / "warehouse.duckdb")
    assert queries.row(later, "results_freshness")["campaigns"] == ["kea-2.2-backends"]
    fresh = queries.ask(later, "results_fresh_findings").to_pylist()
    assert {each for row in fresh for each in row["campaigns"]} <= {"kea-2.2-backends"}


def test_an_empty_lake_has_nothing_fresh(published_home):
    nothing = Warehouse.open(published_home / "warehouse.duckdb")
    assert queries.row(nothing, "results_freshness") == {"last_started_at": None, "last_batch": None, "campaigns": []}
