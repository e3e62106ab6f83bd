"""The questions of the pages, asked of the bundled examples."""

from pathlib import Path

import pytest

from dropline.app import queries, view_tables
from dropline.app.warehouse import Warehouse
from tests.homes import changed

ROOT = Path(__file__).parents[2]


def ids(warehouse, sql):
    return [row["id"] for row in warehouse.query(f"select distinct configuration_id as id from {sql}").to_pylist()]


def loss_by_rate(warehouse, configuration_ids, basis, each_run):
    asked = {"configuration_ids": configuration_ids, "basis": basis, "run_id": None, "each_run": each_run}
    return queries.ask(warehouse, "loss_by_rate", **asked)


@pytest.fixture(scope="module")
def nine_runs(warehouse):
    """The configuration that was measured nine times."""
    return ids(warehouse, "configurations where runs = 9 and origin = 'measured'")[0]


@pytest.fixture(scope="module")
def long(warehouse_home, tmp_path_factory):
    """The examples, with one trial of 7,200 interim lines and a run of 20,000 steps."""
    home = changed(
        warehouse_home,
        tmp_path_factory.mktemp("long"),
        "insert into trial_intervals by name "
        "select 'long' as trial_id, 'b' as batch, i as position, i + 1.0 as t_s, exchange, "
        "100 as interval_sent, 90 as interval_received, 10 * (i + 1) as drops "
        "from range(7200) as line(i), (values ('DISCOVER-OFFER'), ('REQUEST-ACK')) as exchanges(exchange)",
        "insert into run_steps by name select run_id, configuration_id, 1e6 + i as offered_rate, 1 as trials, "
        "1 as achieved_rate, 0.5 as loss_worst_exchange from range(20000) as line(i), "
        "(select run_id, configuration_id from runs where repetition = 1 limit 1)",
    )
    return Warehouse.open(home / "warehouse.duckdb")


def test_every_configuration_has_a_label_of_its_own_and_the_capacity_of_leases_per_second(warehouse):
    labels = queries.labels(warehouse)
    assert len(set(labels.values())) == len(labels) == queries.row(warehouse, "totals")["configurations"]
    at_isc = queries.ask(warehouse, "capacities", configuration_ids=None, loss_goal="isc").to_pylist()
    mine = {row["configuration_id"]: row["rate"] for row in at_isc}
    theirs = warehouse.query("select configuration_id, lps from leases_per_second").to_pylist()
    assert mine == {row["configuration_id"]: row["lps"] for row in theirs}
    assert [goal["loss_goal"] for goal in queries.loss_goals(warehouse)][:4] == ["isc", "ndr", "permille", "pdr"]


def test_a_label_names_the_testbed_where_only_that_tells_two_set_ups_of_a_campaign_apart(warehouse_home, tmp_path):
    twins = "update configurations set configuration = 'x', testbed = backend where ha_mode = 'none'"
    twins += " and campaign = 'kea-2.2-backends' and threading = 'single' and protocol = 'DHCPv4'"
    labels = queries.labels(Warehouse.open(changed(warehouse_home, tmp_path, twins) / "warehouse.duckdb")).values()
    assert {"x memfile (kea-2.2-backends)", "x mysql (kea-2.2-backends)"} <= {*labels}


def test_the_home_page_leaves_out_no_measured_capacity_and_no_published_one_at_its_limit(warehouse):
    shown = set(queries.ask(warehouse, "results_capacities", loss_goal=None)["configuration_id"].to_pylist())
    assert shown >= set(ids(warehouse, "capacity where origin = 'measured'"))
    at_isc = queries.ask(warehouse, "capacities", configuration_ids=None, loss_goal="isc")
    assert shown >= set(at_isc["configuration_id"].to_pylist())


def test_a_capacity_below_the_first_step_is_shown_as_its_bound(warehouse):
    table = queries.ask(warehouse, "capacities", configuration_ids=None, loss_goal="ndr")
    frame = view_tables.capacities(table, queries.labels(warehouse))
    below = frame[frame["rate_at_most"].notna()]
    assert len(below)
    assert (below["rate"] == below["rate_at_most"]).all()
    assert below["interval"].str.match(r"bracket below [\d,]+ offered$").any()
    assert below["shown"].str.match(r"< [\d,]+$").all()


def test_each_run_or_the_median_run_is_a_line(warehouse, nine_runs):
    runs = loss_by_rate(warehouse, [nine_runs], "worst_exchange", each_run=True).to_pylist()
    median = loss_by_rate(warehouse, [nine_runs], "worst_exchange", each_run=False).to_pylist()
    assert len({row["run_id"] for row in runs}) == 9
    assert {row["run_id"] for row in median} == {None}
    assert max(row["runs"] for row in median) == 9
    step = median[3]["offered_rate"]
    losses = sorted(row["loss_ratio"] for row in runs if row["offered_rate"] == step)
    assert median[3]["loss_ratio"] == pytest.approx(losses[len(losses) // 2])
    for basis in ("worst_exchange", "packet", "lease"):
        table = loss_by_rate(warehouse, [nine_runs], basis, each_run=True)
        steps = warehouse.query(f"select loss_{basis} from run_steps where configuration_id = $id", {"id": nine_runs})
        assert sorted(table["loss_ratio"].to_pylist()) == sorted(steps.column(0).to_pylist())


def test_the_seconds_of_a_trial_are_those_of_its_interim_lines(warehouse):
    line = warehouse.query("select * from trial_intervals where position = 0 and t_s is not null limit 1").to_pylist()[
        0
    ]
    rows = queries.ask(warehouse, "intervals", trial_id=line["trial_id"], batch=line["batch"]).to_pylist()
    first = {row["series"]: row["packets_per_s"] for row in rows if row["exchange"] == line["exchange"]}
    assert set(first) == {"sent", "received", "drops"}
    sent = next(row for row in rows if row["exchange"] == line["exchange"] and row["series"] == "sent")
    assert sent["packets_per_s"] == pytest.approx(line["interval_sent"] / line["t_s"])


def test_packets_under_way_are_no_drops(warehouse):
    under_way = "from trial_intervals inner join trial_exchanges using (trial_id, batch, exchange) "
    under_way += "where trial_exchanges.drops = 0 and trial_intervals.drops > 20"
    [trial, *_] = warehouse.query(f"select trial_id, batch, exchange {under_way} order by all").to_pylist()
    seconds = queries.ask(warehouse, "intervals", trial_id=trial["trial_id"], batch=trial["batch"]).to_pylist()
    drops = [row for row in seconds if row["series"] == "drops" and row["exchange"] == trial["exchange"]]
    assert {row["packets_per_s"] for row in drops} == {0}


def test_a_chart_never_gets_more_rows_than_it_can_hold(long):
    seconds = queries.ask(long, "intervals", trial_id="long", batch="b").to_pylist()
    assert 1000 < len(seconds) <= queries.MOST_ROWS
    assert {row["packets_per_s"] for row in seconds} == {100, 90, 10}, "neighbours are averaged"
    assert max(row["t_s"] for row in seconds) == 7200
    steps = loss_by_rate(long, ids(long, "runs"), "worst_exchange", each_run=True)
    assert steps.num_rows <= queries.MOST_ROWS
    assert set(steps["run_id"].to_pylist()) == {None}


def test_differences_name_hardware_and_mark_only_what_differs(warehouse):
    chosen = ids(warehouse, "configurations where campaign = 'isc-kb-kea-2.0' and protocol = 'DHCPv4'")[:3]
    labels = view_tables.short(queries.labels(warehouse), chosen)
    table = view_tables.differences(
        queries.ask(warehouse, "factors", configuration_ids=chosen), labels, chosen
    ).set_index("Factor")
    assert table.loc["CPU model", "Differs"] == ""
    assert set(table.loc["CPU model", list(labels.values())]) == {"Intel Xeon E-2146G"}
    assert list(table.columns) == ["Differs", *labels.values()]


def test_labels_are_cut_to_what_tells_them_apart():
    labels = {"a": "Kea 2.2 mysql single (lab)", "b": "Kea 2.2 mysql multi (lab)", "c": "Kea 2.2 mysql (lab)"}
    assert view_tables.short(labels, ["a", "b"]) == {"a": "single", "b": "multi"}
    assert view_tables.short(labels, ["a", "c"]) == {"a": labels["a"], "c": labels["c"]}, "one would be empty"
    assert view_tables.short(labels, ["a"]) == {"a": labels["a"]}


def test_every_file_of_sql_is_a_question_of_a_page():
    places = [path for pattern in ("*.py", "app/**/*.py", "report/**/*.py") for path in ROOT.glob(pattern)]
    asked = "".join(path.read_text("utf-8") for path in places)
    assert not [path.stem for path in queries.FOLDER.glob("*.sql") if f'"{path.stem}"' not in asked]
