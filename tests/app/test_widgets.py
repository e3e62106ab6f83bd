"""What pages share: lists that a browser can hold, and rates whose bounds stand beside them."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from dropline.app import widgets

LISTS = [("explore", "campaign"), ("trends", "series"), ("machines", "host")]


def options(app, key):
    """Return the texts that a list offers."""
    return next(list(each.options) for each in (*app.multiselect, *app.selectbox) if each.key == key)


@pytest.mark.parametrize(("page", "key"), LISTS)
def test_a_long_list_is_cut_and_searched(open_page, warehouse_home, monkeypatch, page, key):
    every = options(open_page(warehouse_home, page), key)
    monkeypatch.setattr(widgets, "MOST_OPTIONS", 1)
    app = open_page(warehouse_home, page)
    assert options(app, key) == every[:1]
    assert any(f"The list shows the first 1 of {len(every)} " in each.value for each in app.caption)
    app.text_input(f"{key}_search").set_value(every[-1].upper()).run()
    assert not app.exception
    assert every[-1] in options(app, key)
    assert len(options(app, key)) <= 2, "what was found, and what was chosen before"


def shown(rates, signs):
    def page(rates, signs):
        import pandas as pd

        from dropline.app import widgets

        frame = pd.DataFrame({"name": "x", "LPS": pd.Series(rates, dtype=float)})
        widgets.table(frame, alt="Rates", bounds={"LPS": signs})

    app = AppTest.from_function(page, args=(rates, signs)).run()
    assert not app.exception
    return app


def test_the_sign_of_a_bound_stands_before_its_figure_which_stays_a_number():
    rows = shown([18977.4, 2559.0, None], ["", "≥", ""]).dataframe[0].value
    assert list(rows) == ["name", "LPS: bound", "LPS"]
    assert list(rows["LPS: bound"]) == ["", "≥", ""]
    assert list(rows["LPS"].dropna()) == [18977.4, 2559.0]


@pytest.mark.parametrize(
    ("rates", "written"),
    [
        *((rates, "%,.0f") for rates in ([18977.4, 0.0, None], [10.0], [])),
        ([3.14159, 250.0, -0.01], "%.3g"),
        ([3.14159, 12000.0], "%,.9g"),
        ([3.14159, None, 9760.6, 15242.2, 123456.0], "%,.9g"),
    ],
)
def test_rates_are_written_as_people_read_them(rates, written):
    [table] = shown(rates, [""] * len(rates)).dataframe
    assert list(table.value) == ["name", "LPS"], "no column for bounds without one"
    assert json.loads(table.proto.columns)["LPS"]["type_config"]["format"] == written
    assert len(rates) < 5 or list(table.value["LPS"].dropna()) == [3.14, 9761, 15242, 123456]
