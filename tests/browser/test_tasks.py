"""What people come for, done in a browser; what they must read is computed from the warehouse."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import watch, write_sql

from dropline.app import wording
from dropline.app.queries import compare
from dropline.ingest.formats import Report
from dropline.ingest.formats.perfdhcp import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Watched
    from playwright.sync_api import Browser, Page

    from dropline.app.warehouse import Warehouse

EXAMPLES = Path(__file__).parents[2] / "examples"


def choose(page: Page, label: str, option: str) -> None:
    """Type into a select box and take the option."""
    box = page.get_by_role("combobox", name=label)
    box.click()
    box.fill(option)
    page.get_by_role("option", name=option, exact=True).first.click()
    page.keyboard.press("Escape")


def one(warehouse: Warehouse, sql: str, **params: Any) -> dict[str, Any]:
    """Return the first row of an answer."""
    return dict(warehouse.query(sql, params).to_pylist()[0])


def tick(page: Page, row: int = 0) -> None:
    """Choose a row of the first table by its box."""
    place = {"x": 18, "y": 35 * (row + 1) + 17}  # pixels: boxes are drawn on a canvas
    page.get_by_test_id("stDataFrame").first.locator(".dvn-scroller").click(position=place)


@pytest.fixture(scope="module")
def pair_of_ids(warehouse: Warehouse) -> list[str]:
    """Memfile without HA, multi- and single-threaded."""
    rows = warehouse.query("""
        select configuration_id from configurations
        where origin = 'measured' and protocol = 'DHCPv4' and backend = 'memfile' and ha_mode = 'none'
        order by threading
        """)
    return [str(each) for each in rows["configuration_id"].to_pylist()]


def test_the_very_first_visit_may_be_any_page(
    chromium: Browser, serve_home: Callable[[Path], str], warehouse_home: Path
) -> None:
    with watch(chromium, serve_home(warehouse_home)) as watched:
        page = watched.go("compare")
        places = page.get_by_test_id("stTopNavLink").all_inner_texts()
        assert [each.split("\n")[-1] for each in places] == ["Results", "Compare", "Runs", "Plan", "SQL"]
        assert page.title() == "Compare - Dropline"


def test_find_the_fastest_mysql_configuration(watched: Watched, warehouse: Warehouse) -> None:
    fastest = one(
        warehouse,
        """
        select lps from leases_per_second
        where origin = 'measured' and backend = 'mysql' order by lps desc limit 1
        """,
    )
    page = watched.go()
    page.get_by_role("button", name="Filter").click()
    choose(page, "Backend", "mysql")
    page.get_by_role("heading", name=f"at least {round(fastest['lps'], -1):,.0f} leases/s").wait_for()
    assert "only_backend=mysql" in page.url


def test_compare_single_with_multi_change_the_limit_and_share_what_is_seen(
    watched: Watched, chromium: Browser, warehouse: Warehouse, pair: list[str], pair_of_ids: list[str]
) -> None:
    evidence = compare.verdicts(warehouse, "isc", pair_of_ids[::-1]).to_pylist()[0]
    page = watched.go("compare")
    page.get_by_text("To start with: the largest fair difference").wait_for()
    page.get_by_role("button", name="Clear all").click()
    page.get_by_text("Choose the configurations to compare").wait_for()
    for label in pair:
        choose(page, "Configurations", label)
    page.get_by_text("only the threading differs").wait_for()
    watched.settle()
    read = dict(zip(*watched.cells("Evidence for each pair"), strict=True))
    assert float(read["Ratio"]) == pytest.approx(evidence["ratio"])
    assert read["95 % interval"] == wording.factor_interval(evidence["ci_low"], evidence["ci_high"])
    assert read["Verdict"] == wording.VERDICTS[evidence["verdict"]]

    at_one = compare.capacities_at(warehouse, pair_of_ids, 0.01, "worst_exchange").to_pylist()
    fastest = max(at_one, key=lambda each: each["rate"])
    limit = page.get_by_role("spinbutton", name="Limit (%)")
    limit.fill("1")
    limit.press("Enter")
    watched.chart(f"{fastest['rate']:,.0f} leases/s").wait_for()
    watched.chart("red: the limit of 1 %").wait_for()
    watched.settle()
    page.wait_for_url("**limit=1*")

    with watch(chromium, watched.address) as other:
        other.go(page.url.removeprefix(f"{watched.address}/"))
        other.chart("red: the limit of 1 %").wait_for()
        said = "only the threading differs"
        assert other.page.get_by_text(said).inner_text() == watched.page.get_by_text(said).inner_text()


def test_go_back_to_what_was_chosen_before(watched: Watched) -> None:
    page = watched.go("?only_backend=mysql")
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_role("heading", name="Runs").wait_for()
    page.go_back()
    page.get_by_text("Only Backend: mysql").wait_for()
    assert page.url.endswith("?only_backend=mysql")


# S. Hobson on dhcp-users, June 2014: "just under 100" and "close to 12,000" per second for 350,000 subscribers, whose
# clients renew at half of the lease (RFC 2131, 4.4.5): 350,000 / (7200 s / 2) and 350,000 / (60 s / 2).
@pytest.mark.parametrize(("lease_s", "needed"), [(7200, "97"), (60, "11,667")])
def test_plan_350000_subscribers(watched: Watched, warehouse: Warehouse, lease_s: int, needed: str) -> None:
    enough = one(
        warehouse,
        """
        select count(*) filter (missing_lps = 0) as enough, count(*) as known
        from configurations_meeting($clients / ($lease_s / 2), also_missing := true) where protocol = 'DHCPv4'
        """,
        clients=350_000,
        lease_s=lease_s,
    )
    page = watched.go("planner?clients=0")  # without an address it opens with an event
    page.get_by_label("Clients", exact=True).fill("350000")
    page.keyboard.press("Tab")
    page.get_by_label("Lease time", exact=True).fill(str(lease_s))
    page.keyboard.press("Tab")
    watched.chart(f"{needed} leases per second are needed").wait_for()
    answered = f"{enough['enough']} of {enough['known']} known DHCPv4 configurations"
    page.get_by_text(f"{answered} reach {needed}").wait_for()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Plan to print").click()
    printed = taken.value.path().read_text("utf-8")
    assert re.search(
        f"<h1>Leases per second needed</h1>.*{answered} are fast enough.*<svg.*{needed} leases per second",
        printed,
        re.S,
    )


def test_run_a_query_and_take_the_answer_home(watched: Watched, warehouse: Warehouse) -> None:
    sql = "select backend, count(*) as n, max(lps) as lps from leases_per_second group by all order by all"
    page = watched.go("sql")
    write_sql(page, sql)
    page.get_by_role("button", name="Run", exact=True).click()
    answer = warehouse.query(sql).to_pylist()
    page.get_by_text(f"{len(answer)} rows, 3 columns").wait_for()
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Save as CSV").click()
    with Path(downloading.value.path()).open(encoding="utf-8", newline="") as file:
        taken = list(csv.DictReader(file))
    assert [(each["backend"], int(each["n"])) for each in taken] == [
        (each["backend"] or "", each["n"]) for each in answer
    ]
    assert [float(each["lps"]) for each in taken] == pytest.approx([each["lps"] for each in answer])


def test_ask_what_a_file_says(watched: Watched) -> None:
    file = EXAMPLES / "kea-2.2-backends/runs/v4_st_memfile_none/rep1/rate10800.txt"
    (report,) = parse(file.read_bytes())
    assert isinstance(report, Report)
    page = watched.go("try_file")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("heading", name="Output of perfdhcp").wait_for()
    watched.settle()
    read = dict(zip(*watched.cells("Trials of the file"), strict=True))
    worst = max(each["drops"] / each["sent"] for each in report.exchanges)
    assert float(read["Offered"]) == report.facts["offered_rate"]
    assert float(read["Loss, worst exchange"]) == pytest.approx(100 * worst)


def test_read_the_verdict_on_a_claim(watched: Watched, warehouse: Warehouse) -> None:
    claim = one(warehouse, "select * from claims order by claim_id limit 1")
    page = watched.go("claims")
    tick(page)
    page.get_by_role("heading", name=f"Claim {claim['claim_id']}").wait_for()
    assert page.get_by_role("blockquote").get_by_text(claim["statement"]).is_visible()
    verdict = page.get_by_role("listitem").filter(has_text="Verdict of the rule")
    assert verdict.inner_text().endswith(wording.CLAIM_VERDICTS[claim["verdict"]])
    assert "claim=C01" in page.url


def test_find_out_why_a_file_was_refused(chromium: Browser, strange_address: str, strange: Warehouse) -> None:
    refused = one(
        strange,
        "select detail, source_path from quality_findings where finding = 'rejected' and source_path = 'killed.txt'",
    )
    with watch(chromium, strange_address) as watched:
        page = watched.go("quality")
        page.get_by_role("tab", name="Rejected files").click()
        watched.settle()
        rows = watched.cells("Reasons why files were rejected")
        tick(page, next(place for place, row in enumerate(rows[1:]) if refused["source_path"] in row))
        page.get_by_text("dropline show killed.txt").wait_for()
        assert page.get_by_test_id("stText").get_by_text(refused["detail"], exact=True).is_visible()


def test_open_a_run_and_one_of_its_trials(watched: Watched, warehouse: Warehouse, pair: list[str]) -> None:
    page = watched.go("run")
    choose(page, "Configuration", pair[0])
    page.get_by_text("Selected trial").wait_for()
    watched.settle()
    before = page.url
    tick(page)
    page.wait_for_function("before => location.href !== before", arg=before)
    match = re.search("trial=([0-9a-f]+)", page.url)
    assert match is not None
    found = one(warehouse, "select source_path from trials where starts_with(trial_id, $id)", id=match[1])
    page.get_by_text(f"{found['source_path']}, report 1").wait_for()


def test_a_link_to_a_view_opens_that_view(watched: Watched, warehouse: Warehouse) -> None:
    fastest = one(
        warehouse,
        """
        select lps from leases_per_second
        where origin = 'published' and backend = 'postgresql' and protocol = 'DHCPv4' order by lps desc limit 1
        """,
    )
    page = watched.go("?backend=postgresql&protocol=DHCPv4&origin=published")
    page.get_by_text("Only Protocol: DHCPv4; Backend: postgresql").wait_for()
    label = watched.chart("diamond: published").get_by_text(f"{fastest['lps']:,.0f}")
    assert label.first.is_visible()


def test_a_click_on_a_bar_leads_to_its_runs(watched: Watched) -> None:
    page = watched.go()
    bars = watched.chart("DHCPv4, leases/s").locator(".mark-rect path")
    bars.nth(2).click()
    page.get_by_role("link", name="Compare with memfile, 1 thread").wait_for()
    page.get_by_role("link", name="Runs of postgresql, 1 thread").click()
    page.get_by_role("heading", name="Run", exact=True).wait_for()
    assert "postgresql" in page.url


def test_a_telephone_shows_the_answer_and_its_chart_without_scrolling(chromium: Browser, address: str) -> None:
    with watch(chromium, address, viewport={"width": 390, "height": 844}) as watched:
        page = watched.go()
        assert page.get_by_role("heading", level=2).first.bounding_box()["y"] < 422
        chart = watched.chart("DHCPv4, leases/s").bounding_box()
        assert chart is not None
        assert chart["y"] + chart["height"] <= 900
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
