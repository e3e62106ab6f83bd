"""The SQL page in a browser: completion, the gallery, what was asked before, and the way there from a chart."""

from conftest import write_sql, written_sql
from test_tasks import choose

from dropline.app.queries import sql


def offered(page, name):
    """Take a suggestion of the editor once it is there."""
    page.locator(".suggest-widget .monaco-list-row").filter(has_text=name).first.wait_for()
    page.keyboard.press("Tab")


def test_a_column_is_taken_from_the_tree_with_its_comment_in_sight(watched):
    page = watched.go("sql")
    write_sql(page, "select ")
    page.locator(".tree summary").filter(has_text="leases_per_second").click()
    comment = page.locator(".tree details[open] li").filter(has=page.get_by_role("button", name="lps", exact=True))
    assert len(comment.locator("span").inner_text()) > 10
    page.get_by_role("button", name="lps", exact=True).click()
    assert written_sql(page) == "select lps"


def test_a_worked_question_is_taken_and_the_one_before_comes_back(watched):
    page = watched.go("sql")
    write_sql(page, "select 42 as answer")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("1 row, 1 column").wait_for()
    page.get_by_text("worked questions").click()
    gallery = page.get_by_label("Worked questions with a picture").locator(".dvn-scroller")
    gallery.click(position={"x": 18, "y": 35 + 17})
    first = next(iter(sql.examples().values()))
    page.wait_for_function("text => monaco.editor.getEditors()[0].getValue() === text", arg=first)
    watched.settle()
    for _ in range(3):  # a list that is drawn again under the pointer loses the click
        choose(page, "Asked before", "select 42 as answer")
        watched.settle()
        if written_sql(page) == "select 42 as answer":
            break
    assert written_sql(page) == "select 42 as answer"
