"""The SQL page: a question, its answer, its limits, its link and its chart."""

import json

import pandas as pd
import pyarrow as pa

from dropline.app import sql_console
from dropline.app.charts import quick, theme
from dropline.app.queries import sql
from dropline.app.warehouse import Answer
from tests.app.shown import descriptions

ODD = "select 1 a, 2 a, interval 1 day i, {'b': 1} s, [1] l, null n, 'x'::blob b, 1::hugeint h, date 'infinity' d"


def answer(app):
    """The grid with the answer."""
    return app.dataframe[-1].value


def shown(app):
    """What the editor gets from the page."""
    return dict(json.loads(app.get("bidi_component")[0].proto.json))


def test_a_question_in_the_address_is_answered_with_names_and_kinds_that_no_file_can_hold(open_page, published_home):
    app = open_page(published_home, "sql", sql=ODD)
    assert len(set(answer(app).columns)) == 9
    assert list(answer(app)["h"]) == [1]
    assert shown(app)["text"] == ODD
    assert shown(open_page(published_home, "sql"))["text"].startswith("select\n    configuration, rate,")


def test_rows_that_are_cut_are_told(open_page, published_home, monkeypatch):
    monkeypatch.setattr(sql_console, "ask", lambda path, text: Answer(pa.table({"a": [1, 2]}), cut=True))
    assert "There are more rows" in open_page(published_home, "sql", sql="select 'cut here'").warning[0].value


def test_the_chart_takes_the_columns_of_the_address(open_page, published_home):
    counted = "select backend, count(*) as n from capacity group by all order by all"
    [drawn] = descriptions(open_page(published_home, "sql", sql=counted, x="backend", y="n", colour="backend"))
    assert drawn.startswith("n over backend: n = ")
    [drawn] = descriptions(open_page(published_home, "sql", sql="from leases_per_second"))
    assert drawn.startswith("lps over configuration: n = ")


def test_every_worked_question_has_a_picture(open_page, published_home):
    app = open_page(published_home, "sql", sql="select 1")
    app.session_state["questions"] = True
    gallery = app.run().dataframe[0].value
    assert list(gallery["Question"]) == list(sql.examples())
    heights = [height for picture in gallery["Answer"] for height in picture]
    assert 0 <= min(heights) < max(heights) == 1
    assert sum(len(picture) > 0 for picture in gallery["Answer"]) >= 5  # where nothing was measured


def test_a_question_too_long_for_an_address_is_answered_but_not_put_there(open_page, published_home):
    app = open_page(published_home, "sql", sql="select 1 as one -- " + "é" * 4000)
    assert list(answer(app)["one"]) == [1]
    assert "sql" not in app.query_params
    assert any("too long for the address" in each.value for each in app.caption)


def test_the_editor_knows_tables_columns_and_functions_with_their_meaning(open_page, published_home, warehouse):
    known = shown(open_page(published_home, "sql"))
    assert {"tables": known["tables"], "functions": known["functions"]} == sql.schema(warehouse)
    assert all(table["comment"] for table in known["tables"].values())
    columns = {name: comment for name, _, comment in known["tables"]["capacity"]["columns"]}
    assert {"rate", "loss_goal", "status"} <= set(columns)
    assert min(map(len, columns.values())) > 5
    own = {call.partition("(")[0] for call, _, _, is_own in known["functions"] if is_own}
    assert own >= {"compare", "lps_needed"}
    assert "quantile_cont()" in {call for call, *_ in known["functions"]}


def test_a_chart_says_what_it_leaves_out_and_keeps_the_colours_of_backends():
    table = pd.DataFrame({"x": [1.0, None, 3.0], "y": [1, 2, 3], "colour": ["mysql", "mysql", "lmdb"]})
    drawn = quick.points(table, "a [b].c:Q", "rate", "backend").to_dict()
    assert drawn["description"] == (
        "rate over a [b].c:Q: n = 2. One point per row of the result; 1 row without a value left out"
    )
    colour = drawn["layer"][0]["encoding"]["color"]["scale"]
    assert dict(zip(colour["domain"], colour["range"], strict=True)) == {
        name: theme.BACKEND_COLOURS[name] for name in ("mysql", "lmdb")
    }
    many = pd.DataFrame({"x": ["a"] * (quick.MOST_POINTS + 1), "y": 1.0})
    assert "the first 5,000 of 5,001 rows" in quick.points(many, "x", "y").to_dict()["description"]
