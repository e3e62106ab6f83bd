"""What can be taken away from a chart: its data, and the SQL behind it."""

import io
from xml.etree import ElementTree

import altair as alt
import pandas as pd
import pyarrow.parquet as pq
from pyarrow import csv

from dropline.app import downloads
from dropline.app.charts import theme
from tests.app.shown import links


def layers():
    """Two layers of the same rows, one of other rows, and a line that is no data."""
    dots = pd.DataFrame({"row": ["a", "b"], "rate": [1.0, 2.0]})
    single = pd.DataFrame({"row": ["a"], "rate": [1.5], "run": ["run 1"]})
    line = alt.Chart({"values": [{"one": 1}]}).mark_rule().encode(x="one:Q")
    points = [alt.Chart(rows).mark_point().encode(x="rate:Q") for rows in (dots, dots.dropna(), single)]
    return theme.titled([*points, line], "Finding", "detail", 100)


def test_csv_and_parquet_hold_the_rows_of_all_layers_once():
    expected = [["a", 1.0, None], ["b", 2.0, None], ["a", 1.5, "run 1"]]
    columns = ["row", "rate", "run"]
    for read in (
        pq.read_table(io.BytesIO(downloads.written(layers(), "parquet"))),
        csv.read_csv(
            io.BytesIO(downloads.written(layers(), "csv")), convert_options=csv.ConvertOptions(strings_can_be_null=True)
        ),
    ):
        assert read.to_pylist() == [dict(zip(columns, row, strict=True)) for row in expected]


def test_the_svg_has_the_title_and_the_points_as_drawn():
    image = ElementTree.fromstring(downloads.written(layers(), "svg"))  # noqa: S314 - ours
    assert "Finding" in "".join(image.itertext())
    assert len(image.findall(".//{*}g[@class='mark-symbol role-mark layer_0_marks']/{*}path")) == 2


def test_below_every_chart_stand_its_files_and_its_sql(open_page, warehouse_home, warehouse):
    app = open_page(warehouse_home, "speedups", published="true")
    assert [each.proto.label for each in app.get("download_button")] == ["CSV", "Parquet", "SVG"]
    question = links(app)["Open in SQL"].choices["sql"][0]
    assert warehouse.query(question).num_rows == len(app.dataframe[0].value)
