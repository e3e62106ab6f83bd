"""Every chart shows the SQL behind it, and that runs as pasted."""

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


@pytest.mark.parametrize("page", ["results", "compare", "run", "speedups", "trends", "claims", "quality"])
def test_the_sql_behind_a_chart_runs_as_pasted(open_page, warehouse_home, page):
    shown = [each.value for each in open_page(warehouse_home, page).code if "select" in each.value]
    assert shown
    warehouse = Warehouse.open(warehouse_home / "warehouse.duckdb")
    for question in shown:
        assert warehouse.query(question).num_columns > 0
