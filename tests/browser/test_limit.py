"""What a pointer does to a chart: it sets the limit, and takes the image away."""

import re
import struct

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


def test_a_saved_image_is_large_enough_and_has_the_title(watched, tmp_path):
    page = watched.go("speedups")
    chart = page.locator("[class*=st-key-chart-ratios]").first
    assert chart.locator("svg .role-title-text").first.text_content(), "the finding is drawn within the chart"
    chart.hover()
    with page.expect_download() as saved:
        chart.get_by_label("Download as PNG").click()
    saved.value.save_as(tmp_path / "chart.png")
    head = (tmp_path / "chart.png").read_bytes()[:24]
    width, height = struct.unpack(">II", head[16:24])
    assert head.startswith(b"\x89PNG")
    assert (width, height) > (1200, 300)
