"""The Back button of the browser brings back the row and the question before, at the first press."""

from contextlib import suppress
from itertools import pairwise

import pytest
from conftest import write_sql, written_sql
from playwright.sync_api import TimeoutError
from test_tasks import tick

SQL = "select count(*) as trials from trials"


def shown(page):
    """Return what a page says of the row that was chosen, once it says it twice."""
    texts, before = ["not yet"], [""]
    while texts != before:
        before, texts = texts, page.locator("h2, [data-testid=stText], [data-testid=stPageLink]").all_inner_texts()
        page.wait_for_timeout(1000)
    return texts


def choose_trial(page, place):
    for _ in range(60):  # a key pressed while the list is drawn anew is lost
        if page.get_by_role("option").count():
            break
        page.get_by_role("combobox", name="Trial").press("ArrowDown")
        page.wait_for_timeout(300)
    page.get_by_role("option").nth(place).click()


@pytest.mark.parametrize(
    ("path", "name", "choose"),
    [("claims", "claim", tick), ("explore?origin=measured", "chosen", tick), ("run", "trial", choose_trial)],
)
def test_one_press_brings_the_row_before_and_the_next_what_was_there_at_first(watched, path, name, choose):
    page = watched.go(path)
    seen = [(page.url, shown(page))]
    for row in (1, 2):
        for _ in range(3):  # a click while the table is drawn anew is lost
            choose(page, row)
            with suppress(TimeoutError):
                changed = "([name, old]) => location.href !== old && location.href.includes(name)"
                page.wait_for_function(changed, arg=[f"{name}=", seen[-1][0]], timeout=15_000)
                break
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


def test_one_press_brings_the_question_before(watched):
    page = watched.go("sql")
    for sql in (SQL, "select 7 as seven"):
        write_sql(page, sql)
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_function("word => location.href.includes(word)", arg=sql.split()[-1])
        watched.settle()
    assert watched.cells("Answer to the query")[1][-1] == "7"
    page.go_back()
    watched.settle()
    assert written_sql(page) == SQL
    assert "trials" in watched.cells("Answer to the query")[0]
