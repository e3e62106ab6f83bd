"""The site without a server, opened from disk with the network off."""

import pyarrow.parquet as pq
import pytest
from conftest import watch

from dropline.app import site
from dropline.errors import DroplineError
from dropline.paths import Home


@pytest.fixture(scope="module", autouse=True)
def few_series():
    """Each series is a view of its own, which takes a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "MOST_SERIES", 3)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory, warehouse_home):
    """The site of the examples."""
    folder = tmp_path_factory.mktemp("site")
    site.publish(Home.chosen(warehouse_home), folder, lambda said: None)
    return folder


def figures(page):
    """Return the words in the charts of a page, once all are drawn."""
    charts = page.locator(".chart")
    charts.last.locator("svg.marks").wait_for()
    assert charts.locator("svg.marks").count() == charts.count() > 0
    return page.locator(".chart svg text").all_text_contents()


def test_every_page_opens_from_disk_without_network_and_says_what_sql_says(chromium, folder, warehouse):
    with watch(chromium, folder.as_uri(), offline=True) as watched:
        page = watched.page
        page.goto((folder / "index.html").as_uri())
        shown = figures(page)
        fastest = warehouse.query("""
            select lps from leases_per_second
            where origin = 'measured' and protocol = 'DHCPv4' and status = 'bracketed' order by lps desc limit 2
            """)
        for lps in fastest["lps"].to_pylist():  # estimates are rounded down, steps to the nearest
            assert any(text.startswith((f"{lps // 10 * 10:,.0f}", f"{lps:,.0f}")) for text in shown)

        page.get_by_role("link", name="Pairs").click()
        assert "Several threads compared with one" not in figures(page)
        (slowest,) = warehouse.query("""
            select min(coalesce(ratio_interpolated, ratio)) as ratio from ratios
            where factor = 'ha_mode' and origin = 'measured' and loss_goal = 'isc' and rate_unit = 'leases/s'
            """)["ratio"].to_pylist()
        assert page.get_by_role("cell", name=f"{slowest:.3g}", exact=True).count()

        page.get_by_role("link", name="Trends").click()
        figures(page)
        assert page.get_by_role("heading", level=2).count() == site.MOST_SERIES

        page.get_by_role("link", name="Published").click()
        figures(page)
        (claims,) = warehouse.query("select count(*) as n from claims")["n"].to_pylist()
        assert page.get_by_role("table").last.locator("tbody tr").count() == claims

        page.get_by_role("link", name="Report").click()
        assert page.get_by_role("heading", level=1).inner_text().startswith("Benchmark report")


def test_beside_each_chart_lie_its_query_and_its_data_and_a_phone_scrolls_down_only(chromium, folder, warehouse):
    page = chromium.new_page(viewport={"width": 390, "height": 800})
    linked = set()
    for file in folder.glob("*.html"):
        page.goto(file.as_uri())
        linked |= {str(each.get_attribute("href")) for each in page.locator("a[href^='data/']").all()}
        if file.stem != "report":
            behind = page.locator("details:has(summary:text-is('SQL'))")
            assert behind.count() == page.locator(".chart").count() > 0, file.name
            for question in behind.first.locator("code").all_text_contents():
                assert warehouse.query(question).num_columns > 0
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, file.name
    page.close()
    assert linked == {f"data/{each.name}" for each in (folder / "data").iterdir()}
    [best] = warehouse.query(
        "select max(lps) as lps from leases_per_second where origin = 'measured' and protocol = 'DHCPv4'"
    )["lps"].to_pylist()
    assert max(filter(None, pq.read_table(folder / "data/index-1.parquet")["rate"].to_pylist())) == best


def test_what_files_say_stays_text(chromium, strange_home, tmp_path):
    site.publish(Home.chosen(strange_home), tmp_path, lambda said: None)
    page = chromium.new_page()
    for file in tmp_path.glob("*.html"):
        page.goto(file.as_uri())
        page.wait_for_timeout(500)
        assert page.evaluate("[window.pwned ?? 0, document.querySelectorAll('.injected').length]") == [0, 0], file.name
        assert page.locator("a[href^='javascript'], img").count() == 0, file.name
    page.close()


def test_a_folder_with_something_else_is_left_alone(warehouse_home, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(DroplineError, match="holds something else"):
        site.publish(Home.chosen(warehouse_home), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.txt"]
