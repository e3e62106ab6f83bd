"""What a pointer does to a chart: it sets the limit."""

import re

BANDS = "[class*=st-key-chart-ramps] .limits_marks path"


def test_dragging_in_the_curves_sets_the_limit(watched, addresses):
    page = watched.go(addresses["compare"])
    bands = page.locator(BANDS)
    bands.first.scroll_into_view_if_needed()
    begin, end = bands.nth(40).bounding_box(), bands.nth(20).bounding_box()
    x = begin["x"] + 0.7 * begin["width"]
    page.mouse.move(x, begin["y"] + begin["height"] / 2)
    page.mouse.down()
    page.mouse.move(x, end["y"] + end["height"] / 2, steps=8)
    page.mouse.up()
    page.wait_for_url(re.compile("limit=1[.]0&|limit=1[.]0$|limit=1&|limit=1$"))
    watched.settle()
    assert float(page.get_by_label("Limit (%)", exact=True).input_value()) == 1, "the twentieth step of 0.05 %"
    page.get_by_label(re.compile("red: the limit of 1 %")).first.wait_for()
