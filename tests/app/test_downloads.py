"""What can be taken away from a chart: its data, and the SQL behind it."""

import io
from xml.etree import ElementTree

import altair as alt
import pandas as pd
import pyarrow.parquet as pq
from pyarrow import csv

from dropline.app import downloads, queries, query_log
from dropline.app.charts import theme


def layers():
    """Two layers of the same rows, one of other rows, and a line that is no data."""
    dots = pd.DataFrame({"row": ["a", "b"], "rate": [1.0, 2.0]})
    single = pd.DataFrame({"row": ["a"], "rate": [1.5], "run": ["run 1"]})
    line = alt.Chart({"values": [{"one": 1}]}).mark_rule().encode(x="one:Q")
    points = [alt.Chart(rows).mark_point().encode(x="rate:Q") for rows in (dots, dots.dropna(), single)]
    return theme.titled([*points, line], "Finding", "detail")


def test_the_rows_of_all_layers_are_there_once():
    assert downloads.rows(layers()).fillna("").to_dict("records") == [
        {"row": "a", "rate": 1.0, "run": ""},
        {"row": "b", "rate": 2.0, "run": ""},
        {"row": "a", "rate": 1.5, "run": "run 1"},
    ]


def test_csv_and_parquet_hold_what_the_chart_draws():
    expected = downloads.rows(layers())
    parquet = pq.read_table(io.BytesIO(downloads.written(layers(), "parquet"))).to_pandas()
    pd.testing.assert_frame_equal(parquet, expected, check_dtype=False)
    text = csv.read_csv(io.BytesIO(downloads.written(layers(), "csv")))
    assert text.column_names == ["row", "rate", "run"]
    assert text["rate"].to_pylist() == [1.0, 2.0, 1.5]


def test_the_svg_has_the_title_and_the_points_as_drawn():
    image = ElementTree.fromstring(downloads.written(layers(), "svg"))  # noqa: S314 - ours
    assert "Finding" in "".join(image.itertext())
    points = image.findall(".//{*}g[@class='mark-symbol role-mark layer_0_marks']/{*}path")
    assert len(points) == 2


def test_below_every_chart_stand_its_files_and_its_sql(open_page, warehouse_home, warehouse):
    app = open_page(warehouse_home, "speedups", published="true")
    assert [each.proto.label for each in app.get("download_button")] == ["CSV", "Parquet", "SVG"]
    assert "Open in SQL" in [each.proto.label for each in app.get("page_link")]
    [question] = [each.value for each in app.code if "from ratios" in each.value][:1]
    assert warehouse.query(question).num_rows == len(app.dataframe[0].value)


def test_who_collects_around_others_has_their_questions_too(warehouse):
    with query_log.recorded() as page:
        queries.loss_goals(warehouse)
        with query_log.recorded() as chart:
            queries.labels(warehouse)
    assert len(chart) == 1
    assert list(page)[1:] == list(chart)
    assert len(page) == 2
