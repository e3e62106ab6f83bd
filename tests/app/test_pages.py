"""Each page over a warehouse that is missing, holds published figures only, or holds measured results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from dropline.app import queries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

    from dropline.app.warehouse import Warehouse

    Open = Callable[..., AppTest]

PAGES = ("overview", "compare", "run", "planner")


def said(app: AppTest) -> str:
    """Everything that a page renders as Markdown."""
    kinds = ("title", "header", "markdown", "caption", "info", "warning", "error", "success")
    return "\n".join(element.value for kind in kinds for element in getattr(app, kind))


def rows(app: AppTest, column: str) -> pd.DataFrame:
    """The first table with this column."""
    return next(table.value for table in app.dataframe if column in table.value.columns)


def charts(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def label(warehouse: Warehouse, **dimensions: str) -> str:
    """The label of the one measured configuration with these dimensions."""
    found = [
        row["configuration_id"]
        for row in warehouse.query("select * from configurations where origin = 'measured'").to_pylist()
        if all(row[name] == value for name, value in dimensions.items())
    ]
    return queries.labels(warehouse)[found[0]]


@pytest.fixture(scope="session")
def single(warehouse: Warehouse) -> str:
    return label(warehouse, protocol="DHCPv4", backend="memfile", threading="single", ha_mode="none")


@pytest.fixture(scope="session")
def multi(warehouse: Warehouse) -> str:
    return label(warehouse, protocol="DHCPv4", backend="memfile", threading="multi", ha_mode="none")


@pytest.mark.parametrize("page", ["overview", "compare", "run"])
def test_without_a_warehouse_a_page_says_what_to_type(open_page: Open, tmp_path: Path, page: str) -> None:
    app = open_page(tmp_path, page)
    assert "There is no warehouse" in said(app)
    assert app.code[0].value == "dropline up examples"
    assert not app.dataframe


def test_without_a_warehouse_the_calculator_still_computes(open_page: Open, tmp_path: Path) -> None:
    app = open_page(tmp_path, "planner", clients="86400")
    assert app.metric[0].value == "2"
    assert "There is no warehouse" in said(app)


@pytest.mark.parametrize("page", PAGES)
def test_published_figures_alone_make_sense_on_every_page(open_page: Open, published_home: Path, page: str) -> None:
    app = open_page(published_home, page)
    assert app.title[0].value
    if page == "overview":
        assert "Only published figures" in said(app)
        assert app.metric[1].value == "0", "runs"
        assert set(rows(app, "LPS")["Origin"]) == {"published"}
    if page == "run":
        assert "No runs are here yet" in said(app)


def test_the_overview_counts_what_there_is(open_page: Open, warehouse_home: Path, warehouse: Warehouse) -> None:
    totals = queries.totals(warehouse)
    app = open_page(warehouse_home)
    shown = {metric.label: metric.value for metric in app.metric}
    for name in ("configurations", "runs", "trials", "findings"):
        assert shown[name.capitalize()] == f"{totals[name]:,}"
    assert app.caption[0].value.startswith(
        f"Built on {warehouse.identity.published_at:%d %b %Y, %H:%M} UTC; the newest"
    )


def test_the_overview_shows_measured_first_with_the_published_figure_beside(
    open_page: Open, warehouse_home: Path
) -> None:
    table = rows(open_page(warehouse_home), "LPS")
    assert list(table["Origin"].drop_duplicates()) == ["measured", "published"]
    alike = table[
        (table["Origin"] == "measured")
        & (table["Protocol"] == "DHCPv4")
        & (table["Backend"] == "memfile")
        & (table["Threading"] == "single")
        & (table["HA"] == "none")
    ]
    assert list(alike["Published LPS"]) == [11686]  # Kea 2.0 Performance Tests, ISC


def test_the_published_article_keeps_its_shape(open_page: Open, published_home: Path) -> None:
    article = rows(open_page(published_home), "Set-up").set_index("Set-up")
    assert list(article.columns) == ["memfile", "mysql", "postgresql"]
    assert list(article.loc["DHCPv4, single"]) == ["11,686", "2,559", "2,396"]
    assert list(article.loc["DHCPv4, multi"]) == ["18,977 ⚠", "10,135 ⚠", "7,441 ⚠"]


def test_filters_come_from_the_address(open_page: Open, published_home: Path) -> None:
    app = open_page(published_home, "overview", protocol="DHCPv4", backend=["mysql", "postgresql"], threading="multi")
    table = rows(app, "LPS")
    assert set(table["Backend"]) == {"mysql", "postgresql"}
    assert set(table["Protocol"]) == {"DHCPv4"}
    assert table["LPS"].max() == 10135


def test_filters_that_leave_nothing_say_so(open_page: Open, warehouse_home: Path) -> None:
    app = open_page(warehouse_home, "overview", protocol="DHCPv6", backend="mysql", origin="measured")
    assert "No configuration meets all of these filters" in said(app)
    app.multiselect("origin").set_value([]).run()
    assert not app.exception
    assert set(rows(app, "LPS")["Backend"]) == {"mysql"}


@pytest.mark.parametrize(
    ("page", "name"),
    [("overview", "backend"), ("compare", "configurations"), ("run", "configuration"), ("run", "run")],
)
def test_an_address_that_names_what_is_gone_is_told_so(
    open_page: Open, warehouse_home: Path, page: str, name: str
) -> None:
    app = open_page(warehouse_home, page, **{name: "retired **thing**"})
    assert r"retired \*\*thing\*\*, which is not in this warehouse" in said(app)


def test_other_rates_have_a_tab_of_their_own(open_page: Open, published_home: Path) -> None:
    table = rows(open_page(published_home, "overview", tab="Queries per second"), "queries/s")
    assert table["queries/s"].max() == 487000
    app = open_page(published_home, "overview", tab="Other rates", unit="Mbit/s")
    assert set(rows(app, "Mbit/s")["Campaign"]) >= {"kemp-lm3600-bbt-2012"}
    assert not [each for each in app.dataframe if "LPS" in each.value.columns]


def test_comparing_nothing_offers_a_beginning(open_page: Open, warehouse_home: Path) -> None:
    app = open_page(warehouse_home, "compare")
    assert [button.label for button in app.button] == ["Fastest of each backend", "Single against multi"]
    app.button[1].click().run()
    assert not app.exception
    chosen = app.multiselect("configurations").value
    assert len(chosen) == 2
    assert [each for each in app.text if each.value.startswith("They differ in")]


def test_single_and_multi_are_compared_with_limit_ratio_and_differences(
    open_page: Open, warehouse_home: Path, single: str, multi: str, warehouse: Warehouse
) -> None:
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
    (fast, n), (slow, m) = sorted(rates.values(), reverse=True)
    matrix = rows(app, "Rate of")
    assert matrix.iloc[0, 2].removeprefix("▲ ") == f"{fast / slow:.3g} × (n {n} / {m})"
    differing = rows(app, "Differs").set_index("Factor")["Differs"]
    assert differing["threading"] == "≠"
    assert differing["backend"] == ""
    assert set(rows(app, "LPS with")["Factor"]) == {"threads: multi over single", "HA: with over without"}


def test_another_loss_goal_moves_the_limit(open_page: Open, warehouse_home: Path, single: str) -> None:
    app = open_page(warehouse_home, "compare", configurations=single, goal="moj: 1 % of whole leases")
    curves = charts(app)[1]
    assert "red: the limit of 1 %" in curves["description"]


def test_a_published_figure_has_no_ramp_and_maybe_not_this_goal(open_page: Open, published_home: Path) -> None:
    chosen = "ISC Kea 1.9.11 DHCPv4 mysql multi (isc-kb-kea-2.0)"
    assert "give no loss for each step" in said(open_page(published_home, "compare", configurations=chosen))
    other = open_page(published_home, "compare", configurations=chosen, goal="ndr: 0 % of any exchange")
    assert "No figure at the loss goal ndr" in said(other)


def test_a_run_shows_its_ramp_trials_exchanges_and_seconds(
    open_page: Open, warehouse_home: Path, single: str, warehouse: Warehouse
) -> None:
    app = open_page(warehouse_home, "run", configuration=single)
    ramp, lost, *seconds = charts(app)
    assert ramp["description"].startswith("At least 10,793 leases/s, at 10,800 offered; 12,600 lost too much")
    assert lost["description"].startswith("7 of 64,770")
    assert [chart["description"].split(":")[0] for chart in seconds] == ["DISCOVER-OFFER", "REQUEST-ACK"]
    assert list(rows(app, "Exchange")["Exchange"]) == ["DISCOVER-OFFER", "REQUEST-ACK"]
    assert len(rows(app, "Offered")) == int(app.header[0].value.split()[0])
    assert "text" in set(rows(app, "Said by")["Said by"]), "where values came from"


def test_the_address_of_a_trial_opens_that_trial(
    open_page: Open, warehouse_home: Path, single: str, warehouse: Warehouse
) -> None:
    configuration_id = next(key for key, value in queries.labels(warehouse).items() if value == single)
    run = queries.runs(warehouse, configuration_id).to_pylist()[0]
    first = queries.trials(warehouse, run["run_id"]).to_pylist()[0]
    app = open_page(warehouse_home, "run", configuration=single, trial=first["trial_id"][:12])
    assert app.text[0].value.startswith(first["source_path"])


def test_a_trial_without_interim_lines_says_so(
    open_page: Open, warehouse_home: Path, single: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = queries.intervals
    monkeypatch.setattr(queries, "intervals", lambda warehouse, _trial, batch: none(warehouse, "no such trial", batch))
    assert "has no interim lines" in said(open_page(warehouse_home, "run", configuration=single))


@pytest.mark.parametrize(
    ("address", "needed"),
    [
        ({"preset": "86,400 clients, one-day lease"}, "2"),
        ({"preset": "20,000 devices, once in eight hours"}, "0.694"),
        ({"preset": "350,000 subscribers, two-hour lease"}, "97"),
        ({"preset": "350,000 subscribers, one-minute lease"}, "11,667"),
        ({"clients": "86400", "lease_s": "3600", "utilisation_ratio": "0.5"}, "96"),
        ({"preset": "350,000 subscribers, two-hour lease", "clients": "700000"}, "194"),
    ],
)
def test_the_calculator_computes_from_the_address(
    open_page: Open, published_home: Path, address: dict[str, str], needed: str
) -> None:
    app = open_page(published_home, "planner", **address)
    assert app.metric[0].value == needed


def test_a_preset_sets_all_inputs(open_page: Open, published_home: Path) -> None:
    app = open_page(published_home, "planner", arriving_clients="500", boot_ratio="0.5")
    app.selectbox("preset").set_value("86,400 clients, one-day lease").run()
    assert not app.exception
    assert app.metric[0].value == "2"
    assert app.number_input("arriving_clients").value == 0


def test_configurations_are_parted_by_the_need_and_the_ip_version(open_page: Open, published_home: Path) -> None:
    app = open_page(published_home, "planner", preset="350,000 subscribers, one-minute lease")
    enough, slow = [each.value for each in app.dataframe if "Head-room" in each.value.columns]
    assert enough["Head-room"].min() >= 1 > slow["Head-room"].max()
    assert enough["Configuration"].str.contains("DHCPv4").all()
    assert "18,977" not in said(app)
    app.segmented_control("ip_version").set_value(6).run()
    assert rows(app, "Head-room")["Configuration"].str.contains("DHCPv6").all()


@pytest.mark.parametrize("page", PAGES)
def test_hostile_text_from_files_is_never_markup(open_page: Open, hostile_home: Path, hostile: str, page: str) -> None:
    address = {"clients": "86400"} if page == "planner" else {}
    app = open_page(hostile_home, page, **address)
    if page == "compare":
        app.button[0].click().run()
        assert not app.exception
    assert hostile not in said(app)
    assert "<script>" not in said(app).replace(r"\<script\>", "")
    assert not [each for each in app.markdown if each.allow_html]


def test_a_new_publication_is_shown_without_a_restart(
    open_page: Open, published_home: Path, warehouse_home: Path, tmp_path: Path
) -> None:
    (tmp_path / "warehouse.duckdb").write_bytes((published_home / "warehouse.duckdb").read_bytes())
    app = open_page(tmp_path)
    assert app.metric[1].value == "0"
    fresh = tmp_path / "next.duckdb"
    fresh.write_bytes((warehouse_home / "warehouse.duckdb").read_bytes())
    fresh.replace(tmp_path / "warehouse.duckdb")
    app.run()
    assert app.metric[1].value != "0"
