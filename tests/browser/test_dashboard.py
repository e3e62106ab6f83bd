"""What people do in the dashboard, done in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

import pytest

from app import queries
from app.warehouse import Warehouse

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Watched
    from playwright.sync_api import Page

PAGES = (Path(__file__).parents[2] / "app" / "main.py").read_text("utf-8").count("st.Page(")
# pages that need no choice
QUIET = ("explore", "speedups", "trends", "machines", "claims", "quality", "sql", "try_file")


@pytest.fixture(scope="module")
def warehouse(warehouse_home: Path) -> Warehouse:
    return Warehouse.open(warehouse_home / "warehouse.duckdb")


@pytest.fixture(scope="module")
def pair(warehouse: Warehouse) -> list[str]:
    """The labels of memfile without HA, single- and multi-threaded."""
    rows = warehouse.query("""
        select configuration_id from configurations
        where origin = 'measured' and protocol = 'DHCPv4' and backend = 'memfile' and ha_mode = 'none'
        order by threading
        """).to_pylist()
    return [queries.labels(warehouse)[row["configuration_id"]] for row in rows]


def choose(page: Page, label: str, option: str) -> None:
    """Type into a select box and take the option."""
    box = page.get_by_role("combobox", name=label)
    box.click()
    box.fill(option)
    page.get_by_role("option", name=option, exact=True).first.click()
    page.keyboard.press("Escape")


@pytest.mark.parametrize("watched", ["light", "dark"], indirect=True, ids=["light", "dark"])
@pytest.mark.parametrize("name", ["overview", "other-rates", "compare", "run", "planner", *QUIET])
def test_every_page_loads_without_errors_and_without_leaving_the_machine(
    watched: Watched, name: str, pair: list[str], request: pytest.FixtureRequest
) -> None:
    address = {
        "overview": "",
        "other-rates": "?tab=Other+rates",
        "compare": "compare?" + "&".join(f"configurations={quote_plus(each)}" for each in pair),
        "run": f"run?configuration={quote_plus(pair[0])}",
        "planner": "planner?preset=350,000+subscribers,+one-minute+lease",
    }.get(name, name)
    page = watched.go(address)
    assert page.get_by_test_id("stException").count() == 0
    assert page.get_by_test_id("stTopNavLink").count() == PAGES
    watched.shoot(f"{name}-{request.node.callspec.id.split('-')[-1]}")


def test_the_very_first_visit_may_be_any_page(
    watched: Watched, serve_home: Callable[[Path], str], published_home: Path
) -> None:
    watched.address = serve_home(published_home)
    page = watched.go("compare")
    assert page.get_by_test_id("stTopNavLink").count() == PAGES, "Streamlit's own discovery of pages took over"


def test_a_person_finds_the_fastest_mysql_configuration(watched: Watched, warehouse: Warehouse) -> None:
    fastest = warehouse.query("""
        select configuration, round(lps) as lps from leases_per_second
        where origin = 'measured' and backend = 'mysql' order by lps desc limit 1
        """).to_pylist()[0]
    page = watched.go()
    choose(page, "Backend", "mysql")
    chart = page.get_by_label(f"Fastest measured: {fastest['lps']:,.0f} leases/s, {fastest['configuration']}")
    chart.first.wait_for()
    assert "backend=mysql" in page.url


def test_a_person_compares_single_and_multi(watched: Watched, pair: list[str]) -> None:
    page = watched.go("compare")
    for label in pair:
        choose(page, "Configurations", label)
    page.get_by_text("They differ in").wait_for()
    page.get_by_label(re.compile("First above the limit")).first.wait_for()
    page.get_by_text("Show every run").click()
    page.wait_for_url(re.compile("runs=true"))
    watched.settle()
    assert page.url.count("configurations=") == 2


def test_a_person_opens_a_run_and_one_of_its_trials(watched: Watched, warehouse: Warehouse, pair: list[str]) -> None:
    page = watched.go("run")
    choose(page, "Configuration", pair[0])
    page.get_by_text("The trial chosen").wait_for()
    watched.settle()
    before = page.url
    first_row = {"x": 18, "y": 35 + 17}
    page.get_by_test_id("stDataFrame").first.locator(".dvn-scroller").click(position=first_row)
    page.wait_for_function("before => location.href !== before", arg=before)
    trial = re.search("trial=([0-9a-f]+)", page.url)[1]
    found = warehouse.query("select source_path from trials where starts_with(trial_id, $id)", {"id": trial})
    page.get_by_text(f"{found['source_path'][0]}, report 1").wait_for()


def test_a_person_computes_the_need_of_86400_clients(watched: Watched) -> None:
    page = watched.go("planner")
    page.get_by_label("Clients", exact=True).fill("86400")
    page.keyboard.press("Tab")
    page.get_by_label(re.compile("^2 leases per second are needed")).first.wait_for()
    assert "clients=86400" in page.url
    page.get_by_text("known DHCPv4 configurations give 2 leases per second").wait_for()


def test_a_link_to_a_view_opens_that_view(watched: Watched) -> None:
    page = watched.go("?backend=postgresql&protocol=DHCPv4&origin=published")
    page.get_by_label(
        re.compile("Fastest published: 7,441 leases/s, ISC Kea 1.9.11 DHCPv4 postgresql multi")
    ).first.wait_for()
