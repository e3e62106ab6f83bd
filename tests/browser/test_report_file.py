"""The report opened from disk, as somebody does who got it by mail."""

import pytest
from conftest import watch

import report
from dropline.app.warehouse import Warehouse


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_opens_without_errors_fits_and_prints(chromium, warehouse_home, tmp_path, width, scheme):
    file = tmp_path / "report.html"
    file.write_text(report.make(Warehouse.open(warehouse_home / "warehouse.duckdb")), "utf-8")
    viewport = {"width": width, "height": 900}
    with watch(chromium, file.as_uri(), color_scheme=scheme, viewport=viewport, offline=True) as watched:
        page = watched.page
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "only tables scroll sideways"
        assert page.get_by_role("img").count() == 36
        assert page.get_by_role("table", name="ISC Kea 2.2.0 DHCPv4, leases/s").get_by_text("12,178").is_visible()
        page.get_by_role("link", name="Findings").click()
        assert page.get_by_role("heading", name="Findings", exact=True).is_visible()
        assert page.pdf().startswith(b"%PDF")
