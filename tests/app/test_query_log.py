"""Every page shows the SQL behind it, and that runs as pasted."""

import pytest

from dropline.app import query_log
from dropline.app.warehouse import Warehouse


@pytest.mark.parametrize(
    ("sql", "params", "text"),
    [
        ("select $a", {"a": "it's"}, "select 'it''s'"),
        ("select $a, $ab, '$a'", {"a": 1, "ab": None}, "select 1, null, '$a'"),
        ("\n    select $ids\n", {"ids": ["x", "y"]}, "select ['x', 'y']"),
        ("select $all", {"all": True}, "select true"),
        ("select 'a''$b', $b", {"b": 2.5}, "select 'a''$b', 2.5"),
    ],
)
def test_parameters_become_literals_where_they_are_parameters(sql, params, text):
    assert query_log.pasteable(sql, params) == text


@pytest.mark.parametrize(
    "page", ["results", "explore", "compare", "run", "speedups", "trends", "claims", "quality", "machines"]
)
def test_the_sql_behind_a_page_runs_as_pasted(open_page, warehouse_home, page):
    shown = [each.value for each in open_page(warehouse_home, page, behind="true").code if "select" in each.value]
    assert shown
    warehouse = Warehouse.open(warehouse_home / "warehouse.duckdb")
    for question in shown:
        assert warehouse.query(question).num_columns > 0


def test_who_collects_around_others_has_their_questions_too():
    with query_log.recorded() as page:
        query_log.note("select page")
        with query_log.recorded() as chart:
            query_log.note("select chart")
    assert (list(page), list(chart)) == (["select page", "select chart"], ["select chart"])


def test_a_part_that_runs_again_alone_replaces_its_queries_behind_the_page():
    query_log.note("select outside")
    with query_log.recorded() as page:
        query_log.note("select runs")
        query_log.note("select runs")
        part = query_log.Part.of_page()
        with part.recorded():
            query_log.note("select first trial")
    assert list(page) == ["select runs", "select first trial"]
    with part.recorded():  # as a fragment does, outside of the page's run
        query_log.note("select other trial")
    assert list(page) == ["select runs", "select other trial"]
