"""Each page over a warehouse that is missing, holds published figures only, or holds measured results."""

import json

import pandas as pd
import pyarrow as pa
import pytest

from dropline.app import planner, queries, widgets

PAGES = ("results", "compare", "run", "planner")


def said(app):
    """Everything that a page says."""
    kinds = ("title", "header", "markdown", "caption", "info", "warning", "error", "success", "text", "code")
    return "\n".join(element.value for kind in kinds for element in getattr(app, kind))


def rows(app, column):
    """The first table with this column."""
    return next(table.value for table in app.dataframe if column in table.value.columns)


def charts(app):
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def drawn(app):
    """What the panels of the home page draw."""
    sent = [each.data.data for chart in app.get("vega_lite_chart") for each in chart.proto.datasets]
    found = [pa.ipc.open_stream(each).read_pandas() for each in sent]
    return pd.concat([each for each in found if "configuration_id" in each]).drop_duplicates("configuration_id")


def label(warehouse, **dimensions):
    """The label of the one measured configuration with these dimensions."""
    found = [
        row["configuration_id"]
        for row in warehouse.query("select * from configurations where origin = 'measured'").to_pylist()
        if all(row[name] == value for name, value in dimensions.items())
    ]
    return queries.labels(warehouse)[found[0]]


@pytest.fixture(scope="session")
def single(warehouse):
    return label(warehouse, protocol="DHCPv4", backend="memfile", threading="single", ha_mode="none")


@pytest.fixture(scope="session")
def multi(warehouse):
    return label(warehouse, protocol="DHCPv4", backend="memfile", threading="multi", ha_mode="none")


@pytest.mark.parametrize("page", ["results", "compare", "run", "explore", "sql"])
def test_without_a_warehouse_a_page_says_what_to_type(open_page, tmp_path, page):
    app = open_page(tmp_path, page)
    assert "There is no warehouse" in said(app)
    assert app.code[0].value == "dropline up examples"
    assert not app.dataframe


def test_without_a_warehouse_the_calculator_still_computes(open_page, tmp_path):
    app = open_page(tmp_path, "planner", clients="86400")
    assert app.metric[0].value == "2"
    assert "There is no warehouse" in said(app)


@pytest.mark.parametrize("page", PAGES)
def test_published_figures_alone_make_sense_on_every_page(open_page, published_home, page):
    app = open_page(published_home, page)
    assert app.title[0].value
    if page == "results":
        assert "there are only published figures" in said(app)
        assert "0 runs" in app.caption[-1].value
        assert set(drawn(app)["origin"]) == {"published"}


def test_the_foot_of_the_home_page_counts_what_there_is(open_page, warehouse_home, warehouse):
    totals = queries.totals(warehouse)
    foot = open_page(warehouse_home).caption[-1].value
    for name in ("configurations", "runs", "trials", "findings"):
        assert f"{totals[name]:,} {name}" in foot
    assert f"Built on {warehouse.identity.published_at:%d %b %Y, %H:%M} UTC" in foot


def test_published_figures_stand_beside_measured_ones_of_their_kind_when_asked_for(open_page, warehouse_home):
    assert set(drawn(open_page(warehouse_home))["origin"]) == {"measured"}
    for asked in ({"published": "true"}, {"origin": "published"}):  # the second: an address of an earlier version
        table = drawn(open_page(warehouse_home, "results", **asked))
        alike = table[table["row"] == "memfile, 1 thread"]
        assert list(alike["origin"]) == ["measured", "published"]
        assert list(alike["shown"]) == ["12,180", "11,686"]  # Kea 2.0 Performance Tests, ISC


def test_filters_come_from_the_address(open_page, published_home):
    app = open_page(published_home, "results", protocol="DHCPv4", backend=["mysql", "postgresql"], threading="multi")
    assert "Only Protocol: DHCPv4; Backend: mysql or postgresql; Threading: multi" in said(app)
    assert charts(app)[0]["description"].startswith("DHCPv4, leases/s")
    assert set(drawn(app)["backend"]) == {"mysql", "postgresql"}
    assert drawn(app)["rate"].max() == 10135


def test_filters_that_leave_nothing_say_so(open_page, warehouse_home):
    app = open_page(warehouse_home, "results", protocol="DHCPv6", backend="mysql")
    assert "No results for these filters" in said(app)
    app.toggle("published").set_value(True).run()
    assert not app.exception
    assert set(drawn(app)["backend"]) == {"mysql"}


@pytest.mark.parametrize(
    ("home", "page", "address", "words"),
    [
        ("published", "run", {}, "There are no runs yet"),
        ("published", "trends", {}, "ingest runs"),
        ("published", "machines", {"tab": "Server configurations"}, "No server configuration has been read yet"),
        ("published", "quality", {"tab": "Campaigns"}, "No campaign has been ingested yet"),
        ("published", "claims", {"source": "moj-ha-2021-02-09", "verdict": "✓ holds"}, "No claims for these filters."),
        ("published", "claims", {"claim": "C05"}, "the source gives its number in prose only"),
        ("published", "explore", {"search": "no such word"}, "Remove a word or a filter"),
        ("published", "planner", {"clients": "0"}, "Enter the number of clients"),
        ("warehouse", "versions", {}, "Measure one again with another version"),
        ("warehouse", "quality", {"campaign": "isc-kb-kea-2.0", "subject": "trial"}, "No findings for these filters."),
    ],
)
def test_where_there_is_nothing_a_page_says_why_and_what_to_do(open_page, request, home, page, address, words):
    app = open_page(request.getfixturevalue(f"{home}_home"), page, **address)
    assert words in said(app)


@pytest.mark.parametrize(("page", "name"), [("compare", "configurations"), ("run", "run")])
def test_an_address_that_names_what_is_gone_is_told_so(open_page, warehouse_home, page, name):
    app = open_page(warehouse_home, page, **{name: "retired **thing**"})
    assert r"retired \*\*thing\*\*, which is not in this warehouse" in said(app)


@pytest.mark.parametrize("length", [32, widgets.ID_LENGTH])
@pytest.mark.parametrize(("page", "name"), [("run", "configuration"), ("compare", "configurations")])
def test_an_address_may_name_a_configuration_by_its_id(
    open_page, warehouse_home, warehouse, monkeypatch, page, name, length
):
    ids = warehouse.query("select configuration_id from runs order by configuration_id")["configuration_id"]
    chosen = ids[-1].as_py()
    monkeypatch.setattr(widgets, "MOST_OPTIONS", 1)
    app = open_page(warehouse_home, page, **{name: chosen[:length]})
    assert "not in this warehouse" not in said(app)
    widget = app.selectbox(name) if page == "run" else app.multiselect(name)
    assert widget.value in (chosen, [chosen])
    label = queries.labels(warehouse)[chosen]
    assert app.query_params.get(name, [label]) == [label], "or nothing, if it is the first of the list"


def test_too_short_a_beginning_of_an_id_names_nothing(open_page, warehouse_home, warehouse):
    [chosen] = warehouse.query("select configuration_id from runs limit 1")["configuration_id"].to_pylist()
    app = open_page(warehouse_home, "run", configuration=chosen[: widgets.ID_LENGTH - 1])
    assert "which is not in this warehouse" in said(app)


def test_every_protocol_and_unit_has_a_panel(open_page, published_home):
    found = {chart["description"].partition(":")[0] for chart in charts(open_page(published_home))}
    assert {"DHCPv4, leases/s", "DHCPv6, leases/s", "DNS, queries/s", "HTTP, Mbit/s"} <= found
    assert any("487,000 queries/s" in each.value for each in open_page(published_home).header)


@pytest.mark.parametrize(
    ("page", "title", "beside"),
    [
        ("results", "Results", []),
        ("speedups", "Speed-ups", ["Set-ups", "Versions", "Speed-ups"]),
        ("trends", "Trends", ["All set-ups", "One run", "Trends"]),
    ],
)
def test_pages_out_of_the_menu_are_reached_from_their_place(open_page, warehouse_home, page, title, beside):
    app = open_page(warehouse_home, page)
    assert app.title[0].value == title
    labels = [each.proto.label for each in app.get("page_link")]
    assert labels[: len(beside)] == beside
    assert bool(beside) == ("One run" in labels or "Set-ups" in labels)


def test_single_and_multi_are_compared_with_limit_ratio_and_differences(
    open_page, warehouse_home, single, multi, warehouse
):
    app = open_page(warehouse_home, "compare", configurations=[single, multi])
    dots, curves = charts(app)
    assert "Fastest measured" in dots["description"]
    assert any(layer["mark"]["type"] == "tick" for layer in dots["layer"]), "single runs"
    assert "red: the limit of 2.5 %" in curves["description"]
    rates = {
        row["threading"]: (row["rate_interpolated"], row["runs"])
        for row in queries.capacities(warehouse, "isc").to_pylist()
        if queries.labels(warehouse)[row["configuration_id"]] in (single, multi)
    }
    (alone, n), (several, m) = rates["single"], rates["multi"]
    evidence = rows(app, "Rate of").iloc[0]
    assert evidence["Ratio"] == pytest.approx(several / alone), "the second over the first"
    assert evidence["Runs"] == f"{m} and {n}"
    differing = rows(app, "Differs").set_index("Factor")["Differs"]
    assert differing["threading"] == "≠"
    assert differing["backend"] == ""


def test_a_published_figure_has_no_ramp_and_maybe_not_this_goal(open_page, published_home):
    chosen = "ISC Kea 1.9.11 DHCPv4 mysql multi (isc-kb-kea-2.0)"
    assert "give no loss for each step" in said(open_page(published_home, "compare", configurations=chosen))
    other = open_page(published_home, "compare", configurations=chosen, goal="ndr: 0 % of any exchange")
    assert "No figure at the loss goal ndr" in said(other)


def test_a_run_shows_its_ramp_trials_exchanges_and_seconds(open_page, warehouse_home, single, warehouse):
    app = open_page(warehouse_home, "run", configuration=single)
    ramp, *seconds, lost = charts(app)
    assert ramp["description"].startswith("At least 10,793 leases/s, at 10,800 offered; 12,600 lost too much")
    assert lost["description"].startswith("1,165 of 74,375 requests were lost in the server")
    assert [chart["description"].split(":")[0] for chart in seconds] == ["DISCOVER-OFFER", "REQUEST-ACK"]
    assert list(rows(app, "Exchange")["Exchange"]) == ["DISCOVER-OFFER", "REQUEST-ACK"]
    assert len(rows(app, "Offered")) == int(app.header[0].value.split()[0])
    assert "text" in set(rows(app, "Said by")["Said by"]), "where values came from"


def test_the_address_of_a_trial_opens_that_trial(open_page, warehouse_home, single, warehouse):
    configuration_id = next(key for key, value in queries.labels(warehouse).items() if value == single)
    run = queries.row(warehouse, "runs", configuration_id=configuration_id)
    first = queries.row(warehouse, "trials", run_id=run["run_id"])
    app = open_page(warehouse_home, "run", configuration=single, trial=first["trial_id"][:12])
    assert app.text[0].value.startswith(first["source_path"])


def test_a_trial_without_interim_lines_says_so(open_page, warehouse_home, single, monkeypatch):
    none = queries.intervals
    monkeypatch.setattr(queries, "intervals", lambda warehouse, _trial, batch: none(warehouse, "no such trial", batch))
    assert "printed no lines second by second" in said(open_page(warehouse_home, "run", configuration=single))


def test_a_preset_sets_all_inputs(open_page, published_home):
    app = open_page(published_home, "planner", arriving_clients="500", boot_ratio="0.5")
    app.selectbox("preset").set_value("86,400 clients, one-day lease").run()
    assert not app.exception
    assert app.metric[0].value == "2"
    assert planner.PRESETS["day-lease"].source.split(":")[0] in app.caption[0].value.replace("\\", "")
    assert app.text_input("arriving_clients").value == "0"
    assert app.segmented_control("ip_version").value == 4


def test_configurations_are_parted_by_the_need_and_the_ip_version(open_page, published_home):
    app = open_page(published_home, "planner", preset="350,000 subscribers, one-minute lease")
    enough, slow = [each.value for each in app.dataframe if "Head-room" in each.value.columns]
    assert enough["Head-room"].min() >= 1 > slow["Head-room"].max()
    assert enough["Configuration"].str.contains("DHCPv4").all()
    assert "18,977" not in said(app)
    app.session_state["more"] = True
    app.run().segmented_control("ip_version").set_value(6).run()
    assert rows(app, "Head-room")["Configuration"].str.contains("DHCPv6").all()
