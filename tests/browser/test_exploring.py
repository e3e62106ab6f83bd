"""What people do on the page Runs, done in a browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Watched


def test_a_person_searches_ticks_two_rows_and_compares_them(watched: Watched) -> None:
    page = watched.go("explore?origin=measured")
    box = page.get_by_label("Search", exact=True)
    box.fill("Kea mysql")
    box.press("Enter")
    page.wait_for_url(re.compile("search=Kea"))
    watched.settle()
    cells = page.get_by_test_id("stDataFrame").first.locator(".dvn-scroller")
    cells.click(position={"x": 18, "y": 35 + 17})
    page.get_by_role("link", name="Open the run").wait_for()
    watched.settle()
    cells.click(position={"x": 18, "y": 35 + 35 + 17})
    page.wait_for_url(re.compile("chosen=[0-9a-f]{12}.*chosen=[0-9a-f]{12}"))
    page.get_by_role("link", name="Compare the 2 chosen").click()
    page.get_by_role("heading", name="Is the difference real?").wait_for()
    assert page.url.count("configurations=") == 2
