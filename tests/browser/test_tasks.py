"""What people come for, done in a browser; what they must read is computed from the warehouse."""

import re

from conftest import watch


def choose(page, label, option):
    """Type into a select box and take the option."""
    box = page.get_by_role("combobox", name=label)
    box.click()
    box.fill(option)
    page.get_by_role("option", name=option, exact=True).first.click()
    page.keyboard.press("Escape")


def tick(page, row=0):
    """Choose a row of the first table by its box."""
    place = {"x": 18, "y": 35 * (row + 1) + 17}  # pixels: boxes are drawn on a canvas
    page.get_by_test_id("stDataFrame").first.locator(".dvn-scroller").click(position=place)


def test_the_very_first_visit_may_be_any_page(chromium, serve_home, warehouse_home):
    with watch(chromium, serve_home(warehouse_home)) as watched:
        page = watched.go("compare")
        places = page.get_by_test_id("stTopNavLink").all_inner_texts()
        assert [each.split("\n")[-1] for each in places] == ["Results", "Compare", "Runs", "Plan", "SQL"]
        assert page.title() == "Compare - Dropline"


def test_a_click_on_a_bar_leads_to_its_runs(watched):
    page = watched.go()
    bars = watched.chart("DHCPv4: 10 set-ups").locator(".mark-rect path")
    bars.nth(2).click()
    page.get_by_role("link", name="Compare with memfile, 1 thread").wait_for()
    page.get_by_role("link", name="Runs of postgresql, 1 thread").click()
    page.get_by_role("heading", name="Run", exact=True).wait_for()
    page.wait_for_url(re.compile("postgresql"))  # the script puts names for the key that the link has


def test_a_telephone_shows_the_answer_and_its_chart_without_scrolling(chromium, address):
    with watch(chromium, address, viewport={"width": 390, "height": 844}) as watched:
        page = watched.go()
        assert page.get_by_role("heading", level=2).first.bounding_box()["y"] < 422
        chart = watched.chart("DHCPv4: 10 set-ups").bounding_box()
        assert chart["y"] + chart["height"] <= 900
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_plan_is_typed_and_printed(watched):
    """S. Hobson on dhcp-users, June 2014: "close to 12,000" for 350,000 clients that renew every 30 seconds."""
    page = watched.go("planner?clients=0")  # without an address it opens with an event
    for field, text in (("Clients", "350000"), ("Lease time", "60")):
        page.get_by_label(field, exact=True).fill(text)
        page.keyboard.press("Tab")
    watched.chart("11,667 leases per second are needed").wait_for()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Plan to print").click()
    printed = taken.value.path().read_text("utf-8")
    assert re.search("<h1>Leases per second needed</h1>.*<svg.*11,667 leases per second", printed, re.S)
