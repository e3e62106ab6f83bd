"""The calculator: the same numbers at all its doors, what matters most, who meets the need, and its page."""

import csv
import html
import json
import re
from itertools import product
from pathlib import Path

import duckdb
import jinja2
import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats
from typer.testing import CliRunner

from dropline import cli
from dropline.app import planner, printed
from dropline.app.charts import recovery
from dropline.app.charts.recovery import CAPACITIES, against_capacities
from dropline.app.queries import ask
from dropline.app.warehouse import Warehouse
from tests.app.shown import rows, said
from tests.homes import changed

INPUTS = yaml.safe_load(Path(__file__).with_name("inputs.yml").read_text("utf-8"))
# Options of `dropline needs`, and the leases per second that they need, by hand.
CASES = {
    "--clients 86400 --lease 24h": 2,
    "--arriving 20000 --arrival-window 8h": 20000 / 28800,
    "--clients 350000 --lease 2h": 350000 / 3600,
    "--clients 350000 --lease 60": 350000 / 30,
    "--clients 3600 --lease 2h --t1 0.25": 2,
    "--clients 3600 --lease 2h --t1 1 --t2 1": 0.5,
    "--clients 3600 --lease 1h --renewing 0.75 --t2 0.8": 0.75 * 2 + 0.25,
    "--clients 7200 --lease 4h --moves 0.5": 2,
    "--clients 1000 --lease 1000 --boot 0.9 --boot-window 5m": 2 + 3,
    "--down 50000 --boot-window 5000 --recovery 5000": 10,
    # each second one client that missed T1 asks again after 1350 s, for as long as the outage lasted; 1/s are due
    "--clients 3600 --lease 2h --outage 1m --recovery 10m": 1 + 1,
    "--clients 1M --lease 4000 --ip-version 6": 800,
    "--clients 1M --lease 4000 --ip-version 6 --preferred 80%": 625,
    "--down 6000 --leases-per-client 2 --remembering 0.5 --renewal-cost 0.4": 10 * 2 * (0.5 + 0.5 * 0.4),
    "--clients 86400 --relay-ratio 0.8 --ha-ratio 0.5 --utilisation 0.25": 2 / 0.1,
    "--clients 86400 --first-timeout 2 --longest-timeout 30": 2,
    "--preset day-lease": 2,
    "--preset office-day": 20000 / 28800,
    "--preset public-wifi": (4200 / 900 + 1800 / 1800 + 6000 / 3600 + 3000 / 3600) / 0.5,
    "--preset subscribers-2h": 350_000 / 3600,
    "--preset subscribers-2h --clients 720000": 200,
    "--preset subscribers-1min": 350_000 / 30,
    "--preset power-cut": 12000 / 302_400 + 12000 / 431.904,  # x + x^2 / (28 * 64) + 64 = 600, and 5400 below
    "--preset cold-start": 50000 / 2323.46,
}


def asked(home, *arguments):
    """What the command line answers."""
    return CliRunner().invoke(cli.app, ["--home", str(home), "needs", *arguments])


@pytest.mark.parametrize(("options", "needed"), CASES.items(), ids=CASES)
def test_sql_and_the_command_line_give_the_same_numbers(warehouse_home, warehouse, options, needed):
    told = json.loads(asked(warehouse_home, *options.split(), "--format", "json").stdout)
    [by_sql] = warehouse.query(planner.sql(told["inputs"])).to_pylist()
    for name, load in told["loads"].items():  # SQL reads 0.8 as a decimal number
        assert by_sql[name] == (load if load is None else pytest.approx(load, rel=1e-12))
    assert told["loads"]["needed_lps"] == pytest.approx(needed, rel=0.0005)


@pytest.mark.parametrize("options", list(CASES)[5:16:4])
def test_the_page_gives_the_same_numbers(open_page, warehouse_home, warehouse, options):
    told = json.loads(asked(warehouse_home, *options.split(), "--format", "json").stdout)
    given = {name: value for name, value in told["inputs"].items() if value != planner.BY_NAME[name].default}
    page = open_page(warehouse_home, "planner", **{name: f"{value:g}" for name, value in given.items()})
    assert needed(page) == planner.amount(CASES[options])
    assert warehouse.query(page.code[0].value).to_pylist() == [told["loads"]]


def test_without_a_warehouse_presets_are_listed_and_no_configurations_named(tmp_path):
    listed = asked(tmp_path, "--preset", "list").stdout
    assert [line.split()[0] for line in listed.splitlines()] == list(planner.PRESETS)
    assert json.loads(asked(tmp_path, "--clients", "1", "--format", "json").stdout)["configurations"] is None


@pytest.mark.parametrize(("options", "complaint"), INPUTS["refused"])
def test_wrong_use_is_answered_in_words(tmp_path, options, complaint):
    answer = asked(tmp_path, *options.split())
    assert answer.exit_code == 2
    assert complaint in answer.stderr


@pytest.mark.parametrize("outage_s", [600, 5400, 86400])
def test_the_simulated_course_begins_with_the_clients_that_sql_counts(blank, outage_s):
    inputs = {
        "clients": 36000, "lease_s": 7200, "renewing_ratio": 0.9, "arriving_clients": 500, "outage_s": outage_s,
    }  # fmt: skip
    loads = planner.lps_needed(blank, inputs)
    counted = loads["renewing_clients"] + loads["rebinding_clients"] + loads["starting_clients"]
    assert planner.course(inputs, loads, 100).overdue == pytest.approx(counted)


def test_influences_are_ordered_keep_within_limits_and_leave_out_what_hardly_matters(blank):
    found = planner.influences(blank, {"clients": 86400, "utilisation_ratio": 0.5})
    assert [each.swing_lps for each in found] == sorted((each.swing_lps for each in found), reverse=True)
    by_name = {each.name: each for each in found}
    assert set(by_name) == {
        "clients", "lease_s", "t1_ratio", "renewing_ratio", "renewal_cost_ratio", "relay_ratio", "ha_ratio",
        "utilisation_ratio",
    }  # fmt: skip
    assert by_name["lease_s"][2:] == pytest.approx((0.8 * 86400, 1.2 * 86400, 5, 4 / 1.2))
    assert by_name["clients"][4:] == pytest.approx((3.2, 4.8))
    assert by_name["relay_ratio"].high_value == 1, "no relay makes a server faster"
    assert by_name["renewing_ratio"][4:] == pytest.approx((4 * 0.9, 4)), "who does not renew comes half as often"


def meeting(required, rows):
    """What `configurations_meeting` says of (lps, ci_low, best figure, its stdev, runs, interval_kind[, ci_high])."""
    known = ["lps", "ci_low", "lps_interpolated", "lps_interpolated_stdev", "runs_without_outliers", "interval_kind"]
    known.append("ci_high")
    ranges = pd.DataFrame(rows, columns=known[: len(rows[0])]).reindex(columns=known).astype({"ci_high": float})
    others = "status configuration origin campaign protocol backend threading threads ha_mode quality"
    leases_per_second = ranges.assign(**dict.fromkeys(others.split()))
    leases_per_second["runs_without_outliers"] = leases_per_second["runs_without_outliers"].astype("Int64")
    leases_per_second["configuration_id"] = [f"{number:04}" for number in range(len(rows))]
    functions = jinja2.Environment().from_string(planner.FUNCTIONS.read_text("utf-8")).module  # noqa: S701
    database = duckdb.connect()
    database.register("leases_per_second", leases_per_second)
    database.execute(functions.configurations_meeting_function())
    asked = "from configurations_meeting($1, also_missing := true) order by configuration_id"
    return database.execute(asked, [required]).df().to_dict("records")


def test_the_probability_is_students_prediction_of_one_more_run():
    cases = [*product((80.0, 99.0, 100.0, 101.0, 300.0), (0.1, 5.0, 400.0), (2, 3, 4, 5, 9, 10, 30, 201))]
    found = meeting(100, [(mean, None, mean, stdev, runs, "confidence") for mean, stdev, runs in cases])
    expected = [stats.t.sf((100 - m) / (s * np.sqrt(1 + 1 / n)), n - 1) for m, s, n in cases]
    assert [row["meeting_probability"] for row in found] == pytest.approx(expected, abs=1e-12)


def test_without_spread_there_is_no_probability_and_what_is_missing_is_said():
    *enough, short, unknown = meeting(
        100,
        [
            (150, None, None, None, None, "none"),
            (150, 140, 150, None, 1, "bracket"),
            (150, 150, 150, 0.0, 5, "confidence"),
            (150, 140, 150, 5.0, 5, "bracket"),
            (105, 90, 105, 5.0, 5, "confidence"),
            (None, 0, None, None, 1, "bracket"),
        ],
    )
    assert pd.isna([row["meeting_probability"] for row in enough]).all()
    assert all(row["headroom_ratio"] >= 1.4 and row["missing_lps"] == 0 for row in enough)
    assert short["meeting_probability"] == pytest.approx(stats.t.cdf(5 / (5 * 1.2**0.5), 4))
    assert (short["headroom_ratio"], short["missing_lps"]) == (0.9, 10), "the lower end of the interval counts"
    assert unknown["missing_lps"] == 100, "nothing is sure of a run that failed at its first step"


def test_what_has_no_upper_end_below_the_need_is_not_too_slow():
    """A published figure, brackets below and around the need, a ramp that ended below it, ramps that began too high."""
    ranges = [(90, None, None, "none"), (90, 85, 95, "bracket"), (90, 85, 105, "bracket"), (90, 85, None, "bracket")]
    ranges += [(None, 0, 95, "bracket"), (None, 0, 105, "bracket"), (120, 100, None, "bracket")]
    rows = [(lps, low, None, None, 1, kind, high) for lps, low, high, kind in ranges]
    assert [row["meets"] for row in meeting(100, rows)] == ["no", "no", "unknown", "unknown", "no", "unknown", "yes"]


def test_the_page_asks_the_function_that_analysts_ask(warehouse):
    table = ask(warehouse, "planner_configurations", needed_lps=5000, protocol="DHCPv4").to_pylist()
    enough = {row["configuration_id"]: row["headroom_ratio"] for row in table if row["missing_lps"] == 0}
    theirs = warehouse.query("from configurations_meeting(5000) where protocol = 'DHCPv4'").to_pylist()
    assert enough == {row["configuration_id"]: row["headroom_ratio"] for row in theirs}
    assert len(enough) < len(table)
    assert any(row["meeting_probability"] is not None for row in table)


def test_the_command_line_says_who_meets_the_need_and_who_misses_it_by_how_much(published_home):
    said = asked(published_home, "--down", "1200000", "--recovery", "100", "--capacity", "15000").stdout
    assert "12,000  Needed" in said
    enough, short = said.split("configurations that meet it")[1].split("configurations that miss it")
    assert "ISC Kea 1.9.11 DHCPv4 memfile multi (published, warn)" in enough
    assert "11,962      1.00         -  ISC Kea 1.9.11 DHCPv4 memfile multi hot-standby" in short
    assert "38 leases/s short" in short
    assert "2 of 18 known DHCPv4 configurations are fast enough. Of these, ISC Kea" in said
    assert "Most important input: Recover within (s). From 80 to 120, the need goes from 15,000 to 10,000." in said
    assert str(asked(published_home, "--clients", "100", "--lease", "2d").stdout).count("  <0.01  ") == 8
    assert "With 15,000 measured leases/s nobody waits and nobody retries." in said
    assert "Give the number of clients" in asked(published_home).stdout
    assert said.startswith("For down_clients 1,200,000, recovery_s 100; everything else at its default.")


def needed(page):
    """The leases per second that the page's sentence names."""
    return said(page).partition("You need ")[2].split()[0]


def unfolded(page):
    """Open the assumptions, whose fields exist only then."""
    page.session_state["more"] = True
    return page.run()


@pytest.mark.parametrize("preset", planner.PRESETS)
def test_assumptions_count_alike_whether_they_are_drawn_or_not(open_page, published_home, preset):
    page = open_page(published_home, "planner", preset=preset)
    assert not page.number_input
    told = [each.value for each in (*page.header, *page.caption)]
    assert told == [each.value for each in (*unfolded(page).header, *page.caption)]
    assert page.number_input


def test_a_preset_sets_all_inputs(open_page, published_home):
    app = open_page(published_home, "planner", arriving_clients="500", boot_ratio="0.5")
    app.selectbox("preset").set_value("86,400 clients, one-day lease").run()
    assert needed(app) == "2"
    assert planner.PRESETS["day-lease"].source.split(":")[0] in said(app)
    assert app.text_input("arriving_clients").value == "0"


def test_configurations_are_parted_by_the_need_and_the_ip_version(open_page, warehouse_home):
    page = open_page(warehouse_home, "planner", down_clients="3000000", ip_version="")
    enough, slow = [each.value for each in page.dataframe if "Head-room" in each.value.columns]
    assert enough["Head-room"].min() >= 1 > slow["Head-room"].max()
    assert enough["Configuration"].str.contains("DHCPv4").all()
    assert 0 < enough["Probability"].between(0, 100).sum() == enough["Probability"].count()
    assert "Short by" not in enough
    assert (slow["Short by"].dropna() > 0).all()
    unfolded(page).segmented_control("ip_version").set_value(6).run()
    assert rows(page, "Head-room")["Configuration"].str.contains("DHCPv6").all()


@pytest.mark.parametrize("measured_lps", [2, 40, 1000])
def test_the_course_is_drawn_to_the_end_of_the_lease_in_few_points_that_keep_the_counts(blank, measured_lps):
    inputs = planner.PRESETS["power-cut"].inputs
    course = planner.course(inputs, planner.lps_needed(blank, inputs), measured_lps)
    drawn = recovery.points(course)
    assert recovery.MOST_POINTS // 2 < len(drawn) <= recovery.MOST_POINTS + 1
    assert drawn["t_s"].is_monotonic_increasing
    assert 0.95 * inputs["lease_s"] < drawn["t_s"].iloc[-1] < inputs["lease_s"]
    lengths = []
    for middle in drawn["t_s"]:
        lengths.append(2 * (middle - sum(lengths)))
    assert drawn["repeated"].max() == (course.repeated / (course.edges[1:] - course.edges[:-1])).max()
    requests = ((drawn["repeated"] + drawn["for the first time"]) * lengths).sum()
    assert requests == pytest.approx(course.sent.sum())
    assert "per second" in str(recovery.requests(drawn, "x").to_dict()["layer"][0]["encoding"]["y"]["title"])


@pytest.mark.parametrize(("name", "text", "value"), [*INPUTS["written"], *INPUTS["read"]])
def test_inputs_are_read_as_people_write_them_and_written_so_that_they_are_read_the_same(name, text, value):
    assert planner.parsed(name, text) == pytest.approx(value)
    assert [name, text, value] in INPUTS["read"] or planner.written(name, value) == text


@pytest.mark.parametrize(("name", "text"), INPUTS["wrong"])
def test_what_is_no_input_is_answered_with_an_example(name, text):
    with pytest.raises(ValueError, match="write for example"):
        planner.parsed(name, text)


def test_the_load_over_time_is_the_need_at_its_highest(blank):
    for preset in planner.PRESETS.values():
        found = planner.answer(None, preset.inputs | {"utilisation_ratio": 0.5}, calculator=blank)
        steps = planner.demand(found)
        assert found.course.recovered_s <= preset.inputs.get("recovery_s", 0), "in time, in spite of retries"
        assert max(lps for _, lps in steps) >= found.loads["needed_lps"] * 0.999
        assert [at for at, _ in steps] == sorted({at for at, _ in steps})


def test_markdown_and_csv_hold_inputs_need_and_configurations(published_home):
    options = ("--clients", "350k", "--lease", "2h", "--down", "50k")
    page = asked(published_home, *options, "--format", "markdown").stdout
    assert "You need 181 leases/s in the busiest minute: 97 renewals, 83 recovery." in page
    assert "| Clients | 350k | clients |" in page
    assert "| Lease time | 2 h | lease_s |" in page
    table = list(csv.DictReader(asked(published_home, *options, "--format", "csv").stdout.splitlines()))
    assert {each["section"] for each in table} == {"input", "need", "configuration"}
    needed = next(each for each in table if each["name"] == "Needed")
    assert float(needed["value"]) == pytest.approx(350_000 / 3600 + 50_000 / 600, abs=0.01)


def test_a_name_is_neither_markup_nor_a_link_on_the_printed_plan(blank):
    found = planner.answer(None, planner.PRESETS["power-cut"].inputs, calculator=blank)
    name = "<b>x</b> ![i](http://evil.example/i.png) [a](javascript:1) a|b"
    row = {"configuration": name, "lps": 9.0, "headroom_ratio": 2.0, "missing_lps": 0.0, "meets": "yes"}
    row |= {"origin": "o", "quality": "ok"}
    drawn = against_capacities(pd.DataFrame({"t_s": [1, 9], "lps": [5, 5]}), pd.DataFrame(columns=CAPACITIES), "5", "d")
    found.configurations = [row]
    page = printed.page(found, drawn)
    cell = re.search(r"<td>(.*evil.*?)</td>", page)
    assert cell
    assert html.unescape(cell[1]) == name
    assert not re.search(r"<(b|a|img)\b|href", page)


def test_a_measured_ratio_of_high_availability_can_be_taken(open_page, published_home):
    app = unfolded(open_page(published_home, "planner", clients="86400", lease_s="3600"))
    offered = app.selectbox("measured-ha-4")
    assert offered.value is None
    assert all("isc-kb-kea-2.0" in each for each in offered.options)
    before = float(needed(app))
    offered.select(next(each for each in offered.options if each.startswith("0.630: memfile"))).run()
    assert not app.exception
    assert app.text_input("ha_ratio").value == "0.63"
    assert float(needed(app)) == pytest.approx(before / 0.63, abs=1)


def test_the_question_behind_the_influences_runs_as_pasted_and_says_the_same(warehouse):
    inputs = {"clients": 350_000.0, "lease_s": 7200.0, "ip_version": 6.0}
    rows = warehouse.query(planner.influences_sql(inputs)).to_pylist()
    found = {(row["input"], row["changed"]): row["needed_lps"] for row in rows}
    assert found[None, None] == planner.lps_needed(planner.blank(), inputs)["needed_lps"]
    strongest = planner.influences(planner.blank(), inputs)[0]
    for end, lps in zip(planner.ENDS, (strongest.low_lps, strongest.high_lps), strict=True):
        assert found[strongest.name, end] == pytest.approx(lps)


def test_a_measured_set_up_is_taken_with_what_it_answers_beyond_its_capacity(warehouse, warehouse_home, open_page):
    """memfile x4 in five runs: 8487 leases/s at the knee; the first step beyond asked for 1.18 times as much."""
    answered = ask(warehouse, "planner_goodputs", protocol="DHCPv4").to_pylist()
    found = {row["configuration"]: planner.Measured.of(row) for row in answered}
    name = "ISC Kea 2.2.0 DHCPv4 memfile multi x4"
    offered, answered = zip(*found[name].goodput, strict=True)
    assert offered == pytest.approx((1.178, 1.367, 1.602, 1.932), abs=0.002)
    assert answered == pytest.approx((0.993, 1.042, 1.102, 1.098), abs=0.002), "the medians of the five"
    hot = "ISC Kea 2.2.0 DHCPv4 mysql multi x4"
    options = ("--down", "3M", "--boot-window", "60", "--format", "json")
    told = json.loads(asked(warehouse_home, *options, "--like", hot).stdout)["after"]
    alone = json.loads(asked(warehouse_home, *options, "--capacity", str(told["measured_lps"])).stdout)["after"]
    assert told["measured_lps"] == found[hot].lps
    assert told["recovered_s"] > alone["recovered_s"], "it answers less when more is asked"
    refused = asked(warehouse_home, "--clients", "1", "--like", "my server")
    assert (refused.exit_code, "'my server' is not a DHCPv4 configuration" in refused.stderr) == (2, True)
    page = unfolded(open_page(warehouse_home, "planner", down_clients="3000000", boot_window_s="60"))
    box = page.selectbox("like-4")
    box.select(next(each for each in box.options if each.startswith(hot))).run()
    page.session_state["more"] = False
    page.run()  # folded again, it still behaves like it
    assert not page.exception
    assert f"With {found[hot].lps:,.0f} measured leases/s" in said(page)


def test_the_cost_of_a_renewal_comes_from_ramps_with_and_without_renewals(open_page, warehouse_home, tmp_path):
    """The multithreaded server, as if it were the single-threaded one that also renews (perfdhcp -f)."""
    plain, beside = (f"ISC Kea 2.2.0 DHCPv4 memfile {each}" for each in ("single", "multi x4"))
    home = changed(
        *(warehouse_home, tmp_path),
        "insert into trial_exchanges by name select trial_exchanges.* "
        "replace ('REQUEST-ACK (renewal)' as exchange, 3 as position, "
        "cast(2000 * trials.test_period_s as bigint) as received) "
        "from trial_exchanges inner join trials on trial_exchanges.trial_id = trials.trial_id "
        "where trials.configuration = $beside and trial_exchanges.exchange = 'DISCOVER-OFFER'",
        "update capacity set threading = 'single', threads = null where threading = 'multi' or threads > 0",
        beside=beside,
    )
    known = Warehouse.open(home / "warehouse.duckdb")
    rates = known.query("select configuration, lps from leases_per_second where origin = 'measured'").to_pylist()
    lps = {row["configuration"]: row["lps"] for row in rates}
    [pair] = ask(known, "planner_renewal_costs", protocol="DHCPv4").to_pylist()
    assert pair["renewals_per_s"] == pytest.approx(2000, rel=0.001)
    assert pair["ratio"] == pytest.approx((lps[plain] - lps[beside]) / 2000, rel=0.001)
    page = unfolded(open_page(home, "planner", clients="86400"))
    box = page.selectbox("measured-renewal-4")
    assert "beside 2,000 renewals/s" in box.options[0]
    box.select(box.options[0]).run()
    assert float(page.text_input("renewal_cost_ratio").value) == round(pair["ratio"], 3)
    assert float(needed(page)) == pytest.approx(2 * pair["ratio"], rel=0.01)
