"""The page of a run over a DNS trial beside which counters and probes were read."""

import duckdb
import pandas as pd
import pytest
from test_pages import charts, rows, said

from dropline.app import queries, widgets, wording
from dropline.app.charts import accounting, intervals, response, telemetry
from dropline.app.warehouse import Warehouse

# Read beside dnsblast at 8,000 queries/s against PowerDNS 4.7.3 with the kernel's default receive buffer: a value
# each half second, and /proc/net/snmp before and after.
SERIES = {
    "pdns.udp-in-errors": (83822, 90295, 92109, 95618, 97277, 97896),
    "pdns.udp-answers": (41961, 45180, 47060, 48878, 51711, 53393),
    "pdns.qsize-q": (0, 12, 0, 7, 3, 0),
    "pdns.overload-drops": (0, 0, 0, 0, 0, 0),
}
TIMES_S = (0.126, 0.542, 1.050, 1.545, 2.058, 2.541)
COUNTERS = {"udp.RcvbufErrors": (61427, 83822), "udp.NoPorts": (5, 5), "pdns.udp-answers": (41951, 59635)}
SENT = 40000


@pytest.fixture(scope="session")
def trial_id(warehouse):
    return str(warehouse.query("select min(trial_id) from trials where completed").column(0)[0].as_py())


@pytest.fixture(scope="session")
def watched_home(warehouse_home, trial_id, tmp_path_factory):
    """The examples with one trial told as one of DNS, and what was read beside it."""
    home = tmp_path_factory.mktemp("watched")
    path = home / "warehouse.duckdb"
    path.write_bytes((warehouse_home / "warehouse.duckdb").read_bytes())
    with duckdb.connect(str(path)) as database:
        database.execute(
            "delete from trial_observations; delete from trial_counters; delete from trial_intervals;"
            "delete from packet_accounting"
        )
        for metric, values in SERIES.items():
            for t_s, value in zip(TIMES_S, values, strict=True):
                observe(database, trial_id, metric, t_s, value)
        for t_s, latency_ms in ((-0.5, 0.4), (0.5, 2.6), (1.5, 108.6)):
            observe(database, trial_id, "probe_latency", t_s, latency_ms)
        for metric, (before, after) in COUNTERS.items():
            database.execute(
                "insert into trial_counters by name "
                "select trial_id, batch, $2 as metric, $3 as value_before, $4 as value_after, $4 - $3 as change "
                "from trials where trial_id = $1",
                [trial_id, metric, before, after],
            )
        database.execute(
            """
            insert into packet_accounting by name
            select
                trial_id, run_id, configuration_id, campaign, 'DNS' as protocol, tool, $2 as sent, 17231 as received,
                22395 as lost_in_receive_buffer, 0 as lost_at_closed_port, 0 as lost_in_server, 3 as probes,
                3 as probes_answered, 0 as probes_failed, 0.4308 as ratio_printed, 17605 as answered,
                0.4401 as ratio_true, false as is_server_restarted
            from trials where trial_id = $1
            """,
            [trial_id, SENT],
        )
    return home


def observe(database, trial_id, metric, t_s, value):
    database.execute(
        "insert into trial_observations by name "
        "select trial_id, batch, campaign, $2 as metric, $3::double as t_s, $4::double as value "
        "from trials where trial_id = $1",
        [trial_id, metric, t_s, value],
    )


@pytest.fixture(scope="session")
def watched_warehouse(watched_home):
    return Warehouse.open(watched_home / "warehouse.duckdb")


@pytest.fixture(scope="session")
def trial(warehouse, trial_id):
    """Where the rows of the trial are found."""
    found = warehouse.query("select trial_id, batch, campaign from trials where trial_id = $id", {"id": trial_id})
    return found.to_pylist()[0]


@pytest.fixture
def page(open_page, watched_home, watched_warehouse, trial_id):
    row = watched_warehouse.query(
        """
        select configurations.configuration || ' (' || configurations.campaign || ')' as label, runs.*
        from trials
        inner join runs on trials.run_id = runs.run_id
        inner join configurations on runs.configuration_id = configurations.configuration_id
        where trial_id = $id
        """,
        {"id": trial_id},
    ).to_pylist()[0]
    return open_page(watched_home, "run", configuration=row["label"], run=wording.run_label(row), trial=trial_id[:12])


def descriptions(app):
    return [chart["description"] for chart in charts(app)]


def test_an_operator_sees_at_once_that_the_udp_errors_were_the_receive_buffer(page):
    told = descriptions(page)
    assert any(
        each.startswith("22,395 of 40,000 queries were lost in the receive buffer")
        and "prints 43.08% answered; by the counters it is 44.01%" in each
        for each in told
    )
    assert any(each.startswith("UDP errors per second, receive buffer full: at most 15,560 at 0.5 s") for each in told)


def test_a_dhcp_trial_says_where_its_requests_were_lost(open_page, warehouse_home, warehouse):
    row = warehouse.query(
        """
        select packet_accounting.trial_id, packet_accounting.sent, lost_in_receive_buffer, campaign, runs.*
        from packet_accounting inner join runs using (run_id, campaign)
        where packet_accounting.protocol = 'DHCPv6'
            and lost_in_receive_buffer > greatest(lost_in_server, answered_too_late)
        order by lost_in_receive_buffer desc, trial_id
        limit 1
        """
    ).to_pylist()[0]
    label = queries.labels(warehouse)[row["configuration_id"]]
    app = open_page(
        warehouse_home,
        "run",
        configuration=label,
        run=wording.run_label(row),
        trial=row["trial_id"][: widgets.ID_LENGTH],
    )
    expected = f"{row['lost_in_receive_buffer']:,.0f} of {row['sent']:,} requests were lost in the receive buffer"
    assert any(each.startswith(expected) for each in descriptions(app))


def test_what_was_watched_shares_one_time_axis(page):
    axes = [
        layer["encoding"]["x"]["scale"]["domain"]
        for chart in charts(page)
        for layer in chart["layer"]
        if layer["encoding"].get("x", {}).get("field") == "t_s"
    ]
    assert len(axes) == 4  # errors, answers, queue, probes; what never changed is not drawn
    assert axes == [[-0.5, 2.541]] * 4


def test_counters_stand_by_their_change(page):
    table = rows(page, "Change")
    assert list(table["Metric"]) == ["udp.RcvbufErrors", "pdns.udp-answers"]
    assert list(table["Change"]) == [22395, 17684]


def test_response_times_tell_those_of_the_probes(page):
    table = rows(page, "P50").set_index("Source")
    assert list(table.loc["probes (3 answered)", ["P50", "Max"]]) == [2.6, 108.6]


def test_without_its_lake_the_page_says_how_to_read_the_file_itself(page, watched_warehouse, trial_id):
    page.toggle("text").set_value(True).run()
    path = watched_warehouse.query("select source_path from trials where trial_id = $id", {"id": trial_id})
    assert f"dropline show {path.column(0)[0].as_py()}" in [each.value for each in page.code]


def test_the_raw_text_of_a_trial_is_shown_as_it_was_taken_in(open_page, warehouse_home):
    app = open_page(warehouse_home, "run", text="true")
    [command] = [each.value for each in app.code if each.value.startswith("perfdhcp ")]
    [text] = [each.value for each in app.code if each.value.startswith("Running: perfdhcp")]
    assert text.splitlines()[0] == f"Running: {command}"


def test_the_page_opens_on_a_run_with_a_figure(open_page, warehouse_home, warehouse):
    opened = open_page(warehouse_home, "run").selectbox("run").value
    assert warehouse.query("select rate from runs where run_id = $id", {"id": opened}).column(0)[0].as_py()


def test_the_distribution_of_response_times_is_by_rank(watched_warehouse, trial):
    shares = queries.ask(watched_warehouse, "run_response_shares", **trial, most=400).to_pylist()
    assert [(each["time_ms"], each["n"]) for each in shares] == [(0.4, 3), (2.6, 3), (108.6, 3)]
    assert [each["share_ratio"] for each in shares] == pytest.approx([1 / 3, 2 / 3, 1])
    drawn = response.shares(pd.DataFrame(shares)).to_dict()
    assert drawn["description"] == "probes: half took at most 2.6 ms, 99 % at most 109 ms. probes: n = 3"


def test_without_single_answers_the_page_says_what_is_known(open_page, warehouse_home):
    app = open_page(warehouse_home, "run")
    assert "No distribution of response times: perfdhcp records it with `-x t`" in said(app)
    assert {"Min delay (ms)", "Max delay (ms)"} <= set(rows(app, "Exchange").columns)


def test_counters_become_rates_and_gauges_stay_what_was_read(watched_warehouse, trial):
    found = queries.ask(watched_warehouse, "run_watched", **trial)
    readings = found.to_pandas().set_index(["metric", "t_s"])
    assert readings.loc[("pdns.udp-in-errors", 0.542), "value"] == pytest.approx((90295 - 83822) / (0.542 - 0.126))
    assert readings.loc[("pdns.qsize-q", 0.542), "value"] == 12
    assert set(readings.loc[["pdns.udp-in-errors", "pdns.udp-answers"], "is_rate"]) == {True}
    assert not readings.loc["pdns.qsize-q", "is_rate"].any()


def test_a_trial_that_nothing_watched_has_no_account(watched_warehouse):
    assert queries.row(watched_warehouse, "run_accounting", trial_id="no such trial") == {}
    assert (
        queries.ask(watched_warehouse, "run_watched", trial_id="no such trial", campaign="no such campaign").num_rows
        == 0
    )


def test_another_loss_goal_judges_the_run_anew(open_page, warehouse_home):
    app = open_page(warehouse_home, "run", goal="moj: 1 % of whole leases")
    assert "red: the limit of 1 %" in descriptions(app)[0]
    assert "which is not in this warehouse" not in said(app)


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
    seconds = pd.DataFrame(
        {
            "t_s": [float(second) for second in range(1, len(answers) + 1)],
            "exchange": "REQUEST-ACK",
            "series": "received",
            "packets_per_s": [float(each) for each in answers],
        }
    )
    found = intervals.pauses(seconds)
    assert list(found.itertuples(index=False, name=None)) == expected
    drawn = intervals.second_by_second(seconds, [0, 6], found).to_dict()
    assert ("shaded" in drawn["description"]) == bool(expected)


def test_a_reading_without_a_name_of_ours_keeps_its_own_with_its_unit():
    assert wording.watched("cpu_busy", "%", False) == ("cpu busy (%)", "")
    assert wording.watched("udp.InErrors", None, True) == ("udp: InErrors (per second)", "")


def test_charts_of_a_trial_have_a_text_alternative():
    parts = pd.DataFrame({"place": ["answered"], "requests": [5.0], "share_ratio": [1.0], "shown": ["5 (100%)"]})
    drawn = [
        accounting.requests(parts, "queries", "None of the 5 queries was lost", "By the counters").to_dict(),
        telemetry.over_time(
            pd.DataFrame({"t_s": [0.0, 1.0], "name": "waiting", "value": [0.0, 7.0]}), "Questions", [0, 1]
        ).to_dict(),
        telemetry.over_time(
            pd.DataFrame({"t_s": [0.2, 3.1], "name": "", "value": [1.0, 1.0]}), "Failed probes", [0, 4]
        ).to_dict(),
    ]
    assert [each["description"] for each in drawn] == [
        "None of the 5 queries was lost. By the counters",
        "Questions, waiting: at most 7 at 1.0 s. n = 2 readings",
        "Failed probes: 2, from 0.2 to 3.1 s. n = 2 readings",
    ]
    assert drawn[2]["layer"][0]["mark"]["type"] == "point", "events are no line"
