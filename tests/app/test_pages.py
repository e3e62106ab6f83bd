"""Each page over a warehouse that is missing, holds published figures only, or holds measured results."""

from pathlib import Path

import pytest
import yaml

from dropline.app import queries, widgets
from tests.app.shown import charts, links, rows, said
from tests.homes import changed

CASES = yaml.safe_load(Path(__file__).with_name("page_texts.yml").read_text("utf-8"))
KEA_MEMFILE = "ISC Kea 2.2.0 DHCPv4 memfile single (kea-2.2-backends)"


@pytest.fixture
def homes(examples_home, warehouse_home, published_home, bare_home, tmp_path):
    known = {"all": examples_home, "kea": warehouse_home, "published": published_home, "bare": bare_home}
    return known | {"nothing": tmp_path}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_page_says(open_page, homes, tmp_path, case):
    home = homes[case["home"]]
    home = changed(home, tmp_path, *case["sql"]) if "sql" in case else home
    told = said(open_page(home, case["page"], **case.get("address", {})))
    assert [words for words in case["says"] if words not in told] == []
    assert [words for words in case.get("silent", []) if words in told] == []


@pytest.mark.parametrize(("page", "name"), [("compare", "configurations"), ("run", "run")])
def test_an_address_that_names_what_is_gone_is_told_so(open_page, warehouse_home, page, name):
    [warning] = open_page(warehouse_home, page, **{name: "retired **thing**"}).warning
    assert r"retired \*\*thing\*\*, which is not in this warehouse" in warning.value


@pytest.mark.parametrize("length", [32, widgets.ID_LENGTH, widgets.ID_LENGTH - 1])
@pytest.mark.parametrize(("page", "name"), [("run", "configuration"), ("compare", "configurations")])
def test_an_address_may_name_a_configuration_by_its_id_if_it_is_long_enough(
    open_page, warehouse_home, warehouse, monkeypatch, page, name, length
):
    ids = warehouse.query("select configuration_id from runs order by configuration_id")["configuration_id"]
    chosen = ids[-1].as_py()
    monkeypatch.setattr(widgets, "MOST_OPTIONS", 1)
    app = open_page(warehouse_home, page, **{name: chosen[:length]})
    is_known = length >= widgets.ID_LENGTH
    assert ("not in this warehouse" in said(app)) != is_known
    widget = app.selectbox(name) if page == "run" else app.multiselect(name)
    assert (widget.value in (chosen, [chosen])) == is_known
    label = queries.labels(warehouse)[chosen]
    assert not is_known or app.query_params[name] in (label, [label])


@pytest.mark.parametrize(
    ("page", "beside"),
    [("speedups", ["Set-ups", "Versions", "Speed-ups"]), ("trends", ["All set-ups", "One run", "Trends"])],
)
def test_pages_out_of_the_menu_are_reached_from_their_place(open_page, warehouse_home, page, beside):
    assert list(links(open_page(warehouse_home, page)))[:3] == beside


def test_a_run_has_a_row_for_each_trial_and_says_where_values_came_from(open_page, warehouse_home):
    app = open_page(warehouse_home, "run", configuration=KEA_MEMFILE)
    assert len(charts(app)) == 4, "ramp, an exchange each, the account of packets"
    assert list(rows(app, "Exchange")["Exchange"]) == ["DISCOVER-OFFER", "REQUEST-ACK"]
    assert len(rows(app, "Offered")) == int(app.header[0].value.split()[0])
    app.session_state["said"] = True
    assert "text" in set(rows(app.run(), "Said by")["Said by"])
