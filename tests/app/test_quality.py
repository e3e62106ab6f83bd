"""The page of quality: findings and where they lead, what was refused, the gate, how fresh it all is."""

import json
import shutil
from urllib.parse import parse_qs

import duckdb
import pytest
from test_pages import rows, said

from dropline.app import queries, wording
from dropline.app.warehouse import Warehouse
from dropline.ingest.log import Entry

NO_FILTER = {"severities": [], "findings": [], "subjects": [], "campaigns": []}
REFUSED = "Line 3: the report ends here copy the file again"


@pytest.fixture(scope="module")
def refusing_home(warehouse_home, tmp_path_factory):
    """The examples, as if three files had been refused, two of them for one reason, and a batch came later."""
    home = tmp_path_factory.mktemp("refusing")
    shutil.copy(warehouse_home / "warehouse.duckdb", home)
    shutil.copytree(warehouse_home / "quality", home / "quality")
    (home / "lake" / "log").mkdir(parents=True)
    later = Entry(9, ("99999999-later",), {})
    (home / "lake" / "log" / later.name).write_bytes(later.written())
    with duckdb.connect(str(home / "warehouse.duckdb")) as database:
        database.executemany(
            "insert into quality_findings by name select $1 as finding_id, 'rejected' as finding, "
            "'warning' as severity, 'file' as subject, $2 as subject_id, 'new' as campaign, $2 as source_path, "
            "$3 as detail",
            [["r1", "a/rate 1.txt", REFUSED], ["r2", "a/rate2.txt", REFUSED], ["r3", "b.txt", "empty"]],
        )
    return home


def a_finding(warehouse, subject):
    return warehouse.query(
        "select * from quality_findings where subject = $subject order by finding_id limit 1", {"subject": subject}
    ).to_pylist()[0]


def ways(app):
    """What each link to another page carries along."""
    return {link.proto.label: parse_qs(link.proto.query_string) for link in app.get("page_link")}


def test_the_page_counts_what_the_warehouse_holds(open_page, warehouse_home, warehouse):
    page = open_page(warehouse_home, "quality")
    shown = {metric.label: metric.value for metric in page.metric}
    weak = warehouse.query("""
        select count(*) filter (campaigns.origin = 'measured') as own, count(*) as all_of_them
        from quality_findings inner join campaigns using (campaign) where severity <> 'info'
        """).to_pylist()[0]
    assert weak["own"] > 0
    assert page.header[0].value.startswith(
        f"{wording.plural(weak['own'], 'problem')} with what you measured, most often"
    )
    assert f"{weak['all_of_them'] - weak['own']} problems with published figures" in page.header[0].value
    for severity, label in (("suspect", "Suspect"), ("warning", "Warnings"), ("info", "Info")):
        found = queries.ask(warehouse, "quality_findings", **NO_FILTER | {"severities": [severity]}).num_rows
        assert shown[label] == f"{found:,}"
    parts = json.loads((warehouse_home / "quality" / "gate.json").read_text()).values()
    suites = [suite for part in parts for suite in part["suites"]]
    held = sum(suite["successes"] for suite in suites)
    failed = sum(suite["expectations"] for suite in suites) - held
    assert shown["Data checks"] == (f"{failed} of {held + failed} failed" if failed else f"all {held} passed")


@pytest.mark.parametrize(
    ("address", "column", "values"),
    [
        ({"severity": "✖ suspect"}, "Severity", {"✖ suspect"}),
        ({"subject": ["run", "trial"]}, "About", {"run", "trial"}),
        ({"campaign": "isc-kb-kea-2.0"}, "Campaign", {"isc-kb-kea-2.0"}),
        ({"finding": "hidden thread count"}, "Finding", {"hidden thread count"}),
    ],
)
def test_findings_are_filtered_by_the_address(open_page, warehouse_home, address, column, values):
    assert set(rows(open_page(warehouse_home, "quality", **address), "Severity")[column]) == values


def test_the_gravest_findings_come_first(open_page, warehouse_home):
    shown = list(rows(open_page(warehouse_home, "quality"), "Severity")["Severity"].drop_duplicates())
    assert shown == [text for text in wording.SEVERITIES.values() if text in shown]
    assert len(shown) > 1


def test_a_finding_about_a_trial_leads_to_that_trial(open_page, warehouse_home, warehouse):
    finding = a_finding(warehouse, "trial")
    app = open_page(warehouse_home, "quality", chosen=finding["finding_id"][:12])
    assert finding["detail"] in said(app)
    way = ways(app)["Open the trial"]
    label = queries.labels(warehouse)[finding["configuration_id"]]
    assert way["configuration"] == [label]
    assert way["trial"] == [finding["trial_id"][:12]]
    arrived = open_page(warehouse_home, "run", **way)
    assert arrived.selectbox("run").value == finding["run_id"]
    assert not [each for each in arrived.warning if "not in this warehouse" in each.value]


def test_a_finding_about_a_configuration_leads_to_it(open_page, published_home, warehouse):
    finding = warehouse.query(
        "select * from quality_findings where finding = 'hidden_thread_count' order by finding_id limit 1"
    ).to_pylist()[0]
    app = open_page(published_home, "quality", chosen=finding["finding_id"][:12])
    leads = {"configurations": [queries.labels(warehouse)[finding["configuration_id"]]]}
    assert ways(app)["Open the configuration"] == leads


def test_a_finding_about_a_published_figure_names_its_place(open_page, published_home, warehouse):
    finding = a_finding(warehouse, "figure")
    place = queries.row(warehouse, "quality_source_of", figure_id=finding["subject_id"])
    app = open_page(published_home, "quality", chosen=finding["finding_id"][:12])
    assert f"{place['source_title']}, {place['location']}" in said(app)


def test_refused_files_are_gathered_by_reason_and_say_what_to_do(open_page, refusing_home):
    app = open_page(refusing_home, "quality", tab="Rejected files")
    reasons = rows(app, "Files")
    assert list(reasons["Files"]) == [2, 1]
    assert reasons["Reason, and what to do"][0] == REFUSED
    chosen = queries.ask(Warehouse.open(refusing_home / "warehouse.duckdb"), "quality_rejects").to_pylist()[0][
        "reject_id"
    ]
    app = open_page(refusing_home, "quality", tab="Rejected files", reason=chosen[:12])
    assert list(rows(app, "File")["File"]) == ["a/rate 1.txt", "a/rate2.txt"]
    assert "dropline show 'a/rate 1.txt'" in said(app), "as a shell needs it"


def test_a_batch_that_came_after_the_build_is_told(open_page, refusing_home, warehouse_home):
    assert "1 batch that was ingested after this build. Type `dropline build`" in said(
        open_page(refusing_home, "quality")
    )
    assert "after this build" not in said(open_page(warehouse_home, "quality"))


def test_the_gate_shows_every_suite(open_page, warehouse_home):
    suites = rows(open_page(warehouse_home, "quality", tab="Gate"), "Suite").set_index("Suite")
    assert {"lake/trials", "marts/capacity"} <= set(suites.index)
    assert suites["Expectations"].str.fullmatch(r"\d+ of \d+ passed").all()


def test_without_a_gate_the_page_says_what_to_type(open_page, warehouse_home, tmp_path):
    shutil.copy(warehouse_home / "warehouse.duckdb", tmp_path)
    app = open_page(tmp_path, "quality", tab="Gate")
    assert "No checks have run yet. Type `dropline build`." in said(app)
    assert "not run" in [metric.value for metric in app.metric]


def test_campaigns_are_listed_with_their_counts(open_page, warehouse_home):
    campaigns = rows(open_page(warehouse_home, "quality", tab="Campaigns"), "Rejected files").set_index("Campaign")
    assert set(campaigns.index) == {"kea-2.2-backends", "kea-2.2-ha"}
    assert list(campaigns.loc["kea-2.2-ha", ["Configurations", "Runs", "Trials"]]) == [4, 12, 84]


def test_more_findings_than_a_table_holds_are_cut_and_told(warehouse):
    rows = queries.ask(warehouse, "quality_findings", **NO_FILTER).to_pylist()
    counted = sum(row["findings"] for row in queries.ask(warehouse, "quality_counts").to_pylist())
    assert len(rows) == min(counted, queries.MOST_ROWS)


@pytest.mark.parametrize(
    ("address", "mark"),
    [({}, ("✖", "⚠")), ({"severity": "○ info"}, ("○",))],
    ids=["graver first", "nothing more serious"],
)
def test_the_chart_counts_the_gravest(open_page, warehouse_home, address, mark):
    app = open_page(warehouse_home, "quality", **address)
    chart = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    assert chart["description"].removeprefix("Most frequent: ").startswith(mark)
