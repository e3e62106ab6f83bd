"""The page of a run over a trial of dnsblast against PowerDNS beside which counters and probes were read."""

import pandas as pd
import pytest

from dropline.app import queries
from dropline.app.charts import intervals, response
from dropline.app.warehouse import Warehouse
from tests.app.shown import charts, rows
from tests.homes import changed

TRIAL = "d135d73e4910"  # 2,000 queries/s, with the kernel's default receive buffer


@pytest.fixture(scope="module")
def watched(examples_home):
    return Warehouse.open(examples_home / "warehouse.duckdb")


@pytest.fixture(scope="module")
def trial(watched):
    """Where the rows of the trial are found."""
    return watched.query("select * from trials where trial_id[:12] = $id", {"id": TRIAL}).to_pylist()[0]


@pytest.fixture
def page(open_page, examples_home, trial):
    return open_page(examples_home, "run", configuration=trial["configuration_id"], trial=TRIAL)


def test_what_was_watched_shares_one_time_axis(page):
    axes = [
        layer["encoding"]["x"]["scale"]["domain"]
        for chart in charts(page)
        for layer in chart["layer"]
        if layer["encoding"].get("x", {}).get("field") == "t_s"
    ]
    assert axes == [[-0.963, 6.485]] * 8


def test_counters_stand_by_their_change_and_response_times_tell_those_of_the_probes(page):
    changes = rows(page, "Change").set_index("Metric")["Change"]
    assert list(changes[["udp.RcvbufErrors", "udp.InDatagrams", "pdns.udp-answers"]]) == [2012, 16126, 8063]
    assert changes.abs().min() > 0, "only what changed"
    table = rows(page, "P50").set_index("Source")
    assert list(table.loc["probes (75 answered)", ["P50", "Max"]]) == pytest.approx([0.431, 32.209])


def test_without_its_lake_the_page_says_how_to_read_the_file_itself(open_page, warehouse_home, tmp_path):
    app = open_page(changed(warehouse_home, tmp_path), "run", text="true")
    assert f"dropline show {app.text[0].value.partition(',')[0]}" in [each.value for each in app.code]


def test_the_raw_text_of_a_trial_is_shown_as_it_was_taken_in(open_page, warehouse_home):
    app = open_page(warehouse_home, "run", text="true")
    [command] = [each.value for each in app.code if each.value.startswith("perfdhcp ")]
    [text] = [each.value for each in app.code if each.value.startswith("Running: perfdhcp")]
    assert text.splitlines()[0] == f"Running: {command}"


def test_the_page_opens_on_a_run_with_a_figure(open_page, warehouse_home, warehouse):
    opened = open_page(warehouse_home, "run").selectbox("run").value
    assert warehouse.query("select rate from runs where run_id = $id", {"id": opened}).column(0)[0].as_py()


def test_a_trial_chosen_in_another_run_is_not_missed(open_page, warehouse_home):
    app = open_page(warehouse_home, "run")
    app.query_params["trial"] = app.selectbox("trial").options[2]
    app.run().selectbox("run").select_index(1).run()
    assert not [each.value for each in app.warning]


def test_the_distribution_of_response_times_is_by_rank(watched, trial):
    where = {each: trial[each] for each in ("trial_id", "batch", "campaign")}
    shares = queries.ask(watched, "run_response_shares", **where, most=400).to_pandas()
    times = watched.query(
        "select value from trial_observations where trial_id = $id and metric = 'probe_latency' order by value",
        {"id": trial["trial_id"]},
    )["value"].to_pylist()
    assert list(shares["time_ms"]) == times
    assert list(shares["share_ratio"]) == pytest.approx([(place + 1) / len(times) for place in range(len(times))])
    assert response.shares(shares).to_dict()["description"].startswith("probes: half took at most 0.431 ms")


def test_counters_become_rates_and_gauges_stay_what_was_read(watched, trial):
    where = {each: trial[each] for each in ("trial_id", "campaign")}
    read = watched.query(
        "select metric, t_s, value from trial_observations where trial_id = $id "
        "and metric in ('pdns.udp-in-errors', 'pdns.qsize-q') and t_s is not null order by metric, t_s",
        {"id": trial["trial_id"]},
    ).to_pandas()
    found = queries.ask(watched, "run_watched", **where).to_pandas().set_index("metric")
    assert list(found.loc["pdns.qsize-q", "value"]) == list(read[read["metric"] == "pdns.qsize-q"]["value"])
    assert not found.loc["pdns.qsize-q", "is_rate"].any()
    errors = read[read["metric"] == "pdns.udp-in-errors"][["t_s", "value"]].diff().dropna()
    rates = found.loc["pdns.udp-in-errors"].sort_values("t_s")
    assert rates["is_rate"].all()
    assert list(rates["value"].dropna()) == pytest.approx(list(errors["value"] / errors["t_s"]))


def test_a_trial_that_nothing_watched_has_no_account(watched):
    assert queries.row(watched, "run_accounting", trial_id="no such trial", campaign="none") == {}
    nothing = queries.ask(watched, "run_watched", trial_id="no such trial", campaign="no such campaign")
    assert nothing.num_rows == 0


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([1000, 990, 1010, 1000], []),
        ([1000, 100, 1000, 1000], [(1, 2)]),
        ([1000, 100, 0, 1000, 1000, 1000], [(1, 3)]),
        ([100, 1000, 1000, 1000, 0], [(0, 1), (4, 5)]),
    ],
    ids=["none", "one second", "two seconds together", "at both ends"],
)
def test_a_pause_is_where_fewer_than_half_of_the_median_answers_come(answers, expected):
    seconds = pd.DataFrame({"t_s": range(1, len(answers) + 1), "packets_per_s": answers}).astype(float)
    seconds = seconds.assign(exchange="REQUEST-ACK", series="received")
    found = intervals.pauses(seconds)
    assert list(found.itertuples(index=False, name=None)) == expected
    drawn = intervals.second_by_second(seconds, [0, 6], found).to_dict()
    assert ("shaded" in drawn["description"]) == bool(expected)
