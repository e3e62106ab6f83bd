"""The page of quality: findings and where they lead, what was refused, the gate, how fresh it all is."""

import json
import shutil

import pytest

from dropline.app import queries, wording
from dropline.app.warehouse import Warehouse
from dropline.ingest.log import Entry
from tests.app.shown import links, rows, said
from tests.homes import changed

NO_FILTER = {"severities": [], "findings": [], "subjects": [], "campaigns": [], "hidden": []}
REFUSED = "Line 3: the report ends here copy the file again"


@pytest.fixture(scope="module")
def refusing_home(warehouse_home, tmp_path_factory):
    """The examples, as if three files had been refused, two of them for one reason, and a batch came later."""
    home = changed(
        *(warehouse_home, tmp_path_factory.mktemp("refusing")),
        "insert into quality_findings by name select unnest(['r1', 'r2', 'r3']) as finding_id, 'rejected' as finding, "
        "'warning' as severity, 'file' as subject, unnest(['a/rate 1.txt', 'a/rate2.txt', 'b.txt']) as subject_id, "
        "'new' as campaign, subject_id as source_path, unnest([$refused, $refused, 'empty']) as detail",
        refused=REFUSED,
    )
    shutil.copytree(warehouse_home / "quality", home / "quality")
    (home / "lake" / "log").mkdir(parents=True)
    later = Entry(9, ("99999999-later",), {})
    (home / "lake" / "log" / later.name).write_bytes(later.written())
    return home


def test_the_page_counts_what_the_warehouse_holds(open_page, warehouse_home, warehouse):
    page = open_page(warehouse_home, "quality", published="true")
    shown = said(page)
    weak = warehouse.query("""
        select count(*) filter (campaigns.origin = 'measured') as own, count(*) as all_of_them
        from quality_findings inner join campaigns using (campaign) where severity <> 'info'
        """).to_pylist()[0]
    assert weak["own"] > 0
    told = page.header[0].value
    assert told.startswith(f"{wording.plural(weak['own'], 'problem')} with what you measured, most often")
    assert f"{weak['all_of_them'] - weak['own']} problems with published figures" in told
    findings = queries.ask(warehouse, "quality_findings", **NO_FILTER).to_pandas()["severity"].value_counts()
    for severity in ("suspect", "warning", "info"):
        assert f" {severity} {findings[severity]:,}," in shown
    parts = json.loads((warehouse_home / "quality" / "gate.json").read_text()).values()
    suites = [suite for part in parts for suite in part["suites"]]
    held = sum(suite["successes"] for suite in suites)
    assert f"; {held} of {sum(suite['expectations'] for suite in suites)} data checks hold." in shown
    table = list(rows(page, "Severity")["Severity"].drop_duplicates())
    assert table == [text for text in wording.SEVERITIES.values() if text in table], "the gravest first"
    assert len(table) > 1


@pytest.mark.parametrize(
    ("address", "column", "values"),
    [
        ({"severity": "✖ suspect", "published": "true"}, "Severity", {"✖ suspect"}),
        ({"subject": ["run", "trial"]}, "About", {"run", "trial"}),
        ({"campaign": "isc-kb-kea-2.0"}, "Campaign", {"isc-kb-kea-2.0"}),
        ({"finding": "hidden thread count", "published": "true"}, "Finding", {"hidden thread count"}),
    ],
)
def test_findings_are_filtered_by_the_address(open_page, warehouse_home, address, column, values):
    assert set(rows(open_page(warehouse_home, "quality", **address), "Severity")[column]) == values


def test_a_finding_about_a_trial_leads_to_that_trial(open_page, warehouse_home, warehouse):
    finding = queries.ask(warehouse, "quality_findings", **NO_FILTER | {"subjects": ["trial"]}).to_pylist()[0]
    app = open_page(warehouse_home, "quality", chosen=finding["finding_id"][:12])
    assert finding["detail"] in said(app)
    way = links(app)["Open the trial"]
    arrived = open_page(warehouse_home, way.page, **way.choices)
    assert arrived.selectbox("configuration").value == finding["configuration_id"]
    assert arrived.selectbox("run").value == finding["run_id"]
    assert arrived.text[0].value.startswith(finding["source_path"])


def test_a_finding_about_a_figure_leads_to_its_configuration_or_names_its_place(open_page, published_home, warehouse):
    hidden = queries.row(warehouse, "quality_findings", **NO_FILTER | {"findings": ["hidden_thread_count"]})
    app = open_page(published_home, "quality", published="true", chosen=hidden["finding_id"][:12])
    assert links(app)["Open the configuration"].choices == {"configurations": [hidden["configuration_id"]]}
    finding = queries.row(warehouse, "quality_findings", **NO_FILTER | {"subjects": ["figure"]})
    place = queries.row(warehouse, "quality_source_of", figure_id=finding["subject_id"])
    app = open_page(published_home, "quality", published="true", chosen=finding["finding_id"][:12])
    assert f"{place['source_title']}, {place['location']}" in said(app)


def test_refused_files_are_gathered_by_reason_and_say_what_to_do(open_page, refusing_home):
    app = open_page(refusing_home, "quality", tab="Rejected files")
    assert "1 batch that was ingested after this build. Type `dropline build`" in said(app)
    reasons = rows(app, "Files")
    assert list(reasons["Files"]) == [2, 1]
    assert reasons["Reason, and what to do"][0] == REFUSED
    reject = queries.row(Warehouse.open(refusing_home / "warehouse.duckdb"), "quality_rejects")["reject_id"]
    app = open_page(refusing_home, "quality", tab="Rejected files", reason=reject[:12])
    assert list(rows(app, "File")["File"]) == ["a/rate 1.txt", "a/rate2.txt"]
    assert "dropline show 'a/rate 1.txt'" in said(app), "as a shell needs it"


def test_the_gate_shows_every_suite(open_page, warehouse_home):
    suites = rows(open_page(warehouse_home, "quality", tab="Gate"), "Suite").set_index("Suite")
    assert {"lake/trials", "marts/capacity"} <= set(suites.index)
    assert suites["Expectations"].str.fullmatch(r"\d+ of \d+ passed").all()
