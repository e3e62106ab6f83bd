"""The Back button of the browser brings back what was chosen before, at the first press."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from test_tasks import choose, tick

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Watched
    from playwright.sync_api import Page

SQL = "select count(*) as trials from trials"


def shown(page: Page) -> list[str]:
    """Return what a page says of the row that was chosen, once it says it twice."""
    texts, before = ["not yet"], [""]
    while texts != before:
        before, texts = texts, page.locator("h2, [data-testid=stText], [data-testid=stPageLink]").all_inner_texts()
        page.wait_for_timeout(300)
    return texts


@pytest.mark.parametrize(
    ("path", "name"), [("claims", "claim"), ("explore?origin=measured", "chosen"), ("run", "trial")]
)
def test_one_press_brings_the_row_before_and_the_next_what_was_there_at_first(
    watched: Watched, path: str, name: str
) -> None:
    page = watched.go(path)
    seen = [(page.url, shown(page))]
    for row in (1, 2):
        tick(page, row)
        page.wait_for_function(
            "([name, old]) => location.href !== old && location.href.includes(name)", arg=[f"{name}=", page.url]
        )
        watched.settle()
        seen.append((page.url, shown(page)))
    assert all(one != other for before, after in pairwise(seen) for one, other in zip(before, after, strict=True))
    for url, texts in (seen[1], seen[0]):
        page.go_back()
        page.wait_for_url(url)
        watched.settle()
        assert (page.url, shown(page)) == (url, texts)
    page.go_forward()
    watched.settle()
    assert page.url == seen[1][0]


def test_one_press_brings_the_question_before(watched: Watched) -> None:
    page = watched.go("sql")
    editor = page.get_by_role("textbox", name="One SELECT (DuckDB's SQL)", exact=True)
    for sql in (SQL, "select 7 as seven"):
        editor.fill(sql)
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_function("word => location.href.includes(word)", arg=sql.split()[-1])
        watched.settle()
    assert watched.cells("Answer to the question")[1][-1] == "7"
    page.go_back()
    watched.settle()
    assert editor.input_value() == SQL
    assert "trials" in watched.cells("Answer to the question")[0]


def type_clients(page: Page) -> None:
    box = page.get_by_label("Clients", exact=True)
    box.fill("350000")
    box.press("Enter")


STEPS: tuple[tuple[str, str, Callable[[Page], None]], ...] = (
    ("Explore", "backend=mysql", lambda page: choose(page, "Backend", "mysql")),
    ("Machines", "tab=Server", lambda page: page.get_by_role("tab", name="Server configurations").click()),
    ("Claims", "differing=true", lambda page: page.get_by_text("Only where rule and maintainers differ").click()),
    ("LPS needed", "clients=350000", type_clients),
)


def test_each_choice_and_each_change_of_page_is_one_step_back(watched: Watched) -> None:
    page = watched.go()
    urls = [page.url]
    for title, asked, act in STEPS:
        page.get_by_role("link", name=title, exact=True).first.click()
        page.wait_for_function("old => location.href !== old", arg=urls[-1])
        watched.settle()
        urls.append(page.url)
        assert not page.url.partition("?")[2]
        act(page)
        page.wait_for_function("asked => location.search.includes(asked)", arg=asked)
        watched.settle()
        urls.append(page.url)
    assert page.get_by_label("Clients", exact=True).input_value() == "350000"
    for url in reversed(urls[:-1]):
        page.go_back()
        page.wait_for_url(url)
        watched.settle()
        assert page.url == url
    assert page.get_by_role("heading", level=1).inner_text() == "Overview"
    for url in urls[1:3]:
        page.go_forward()
        page.wait_for_url(url)
        watched.settle()
    assert "mysql" in page.get_by_test_id("stMultiSelect").filter(has_text="Backend").inner_text()


def test_back_brings_the_value_of_a_widget_and_not_only_its_address(watched: Watched) -> None:
    page = watched.go("planner")
    type_clients(page)
    page.wait_for_function("location.search.includes('clients=350000')")
    watched.settle()
    page.get_by_label("Clients", exact=True).fill("86400")
    page.get_by_label("Clients", exact=True).press("Enter")
    page.wait_for_function("location.search.includes('clients=86400')")
    watched.settle()
    for value in ("350000", "0"):
        page.go_back()
        page.wait_for_function(
            "value => document.querySelector('[aria-label=Clients]').value === value", arg=value, timeout=10_000
        )
