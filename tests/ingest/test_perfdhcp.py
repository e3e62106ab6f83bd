"""What the perfdhcp reader makes of real captures (Kea 2.2.0) and of variants derived from them."""

import gzip
import re
from pathlib import Path

import pytest

from dropline.ingest.formats import Reject, Report, perfdhcp, recognise
from dropline.ingest.formats.perfdhcp_options import parse_command

CAPTURES = Path(__file__).parents[1] / "captures" / "perfdhcp" / "odd"

NO_ANSWER = ("DISCOVER-OFFER has no delays", "-nan, not a number: 0 sent", "REQUEST-ACK has no delays")
NO_ANSWER_6 = ("SOLICIT-ADVERTISE has no", "-nan, not a number: 0 sent", "REQUEST-REPLY has no delays")
NO_SECOND_6 = ("-nan, not a number: 0 sent", "REQUEST-REPLY has no delays")
NO_SERVER = "without an interface, server is required"

# Capture -> what its warnings say, in their order.
TRIALS = {
    "001_v4_x_all": (),
    "002_v6_x_all": (),
    "004_v4_x_e": (),
    "005_v4_x_i": (),
    "007_v4_x_r": (),
    "008_v4_x_t": (),
    "010_v4_x_l": (),
    "011_v6_x_a_pd": (),
    "013_v6_t1": (),
    "014_v4_t1_C_comma": ("no `Running:` line",),
    "016_v4_t1_i_only": (),
    "017_v4_t1_4xchg": (),
    "019_v4_R1": (),
    "020_v4_R0": (),
    "022_v4_moj": (),
    "023_v4_n_r": (),
    "025_v4_n_n_W": (),
    "026_v4_n_n": (),
    "028_v4_n1": NO_ANSWER,
    "029_v4_n1_W": (),
    "031_v4_nothing_sigint": (),
    "032_v4_n_p": (),
    "034_v6_avalanche": (),
    "035_v4_avalanche_big": (),
    "037_v4_avalanche_d_x": ("ignores -d",),
    "038_v4_avalanche_r_p_t": ("ignores -r, -p, -t",),
    "040_v4_avalanche_dead_sigint": ("avalanche was interrupted", *NO_ANSWER),
    "041_v4_basic_scenario": (),
    "043_v4_f": (),
    "044_v4_F": (),
    "046_v6_f": (),
    "047_v6_F": (),
    "052_v6_i": (),
    "056_v6_pd": (),
    "058_v6_na_pd_nopool": NO_SECOND_6,
    "059_v6_A1": (),
    "061_v4_W_x_e": (),
    "062_v6_W": (),
    "064_v4_u_R5": (),
    "065_v6_u_R5": (),
    "067_v4_dead_bcast": NO_ANSWER,
    "068_v6_dead": NO_ANSWER_6,
    "070_v4_dead_x_all": NO_ANSWER,
    "071_v6_dead_x_all": NO_ANSWER_6,
    "073_v4_dead_D_abs": ("-D allows 10 drops", *NO_ANSWER),
    "074_v4_dead_D_pct": ("-D allows 5% drops", *NO_ANSWER),
    "076_v4_dead_D_pct_x_e_W": ("-D allows 5% drops", *NO_ANSWER),
    "077_v4_D_low_inflight": ("-D allows 10 drops",),
    "079_v4_overload_20000": (),
    "080_v4_overload_200000": (),
    "082_v4_d_small": (),
    "083_v4_d_frac": (),
    "085_v4_d_three": (),
    "086_v4_sigint": (),
    "088_v6_sigint": (),
    "091_v4_tinypool": (),
    "092_v6_tinypool": (),
    "094_v6_tinypool_u_x": (),
    "095_v4_g_single": (),
    "097_v4_P": (),
    "098_v4_s": (),
    "100_v6_b_duid": (),
    "101_v4_o": (),
    "103_v4_J": (),
    "104_v4_Y_y": (),
    "106_v4_1_B": (),
    "107_v4_bcast": (),
    "109_v4_l_addr": (),
    "110_v4_w": (),
    "112_v4_locale_de": (),
    "113_v4_rate_1": (),
    "125_err_v6_unicast": NO_ANSWER_6,
    "154_v4_fake_short": ("59 packets could not be received; line 41: 'Truncated DHCPv4", *NO_ANSWER),
    "155_v4_fake_garbage": ("59 malformed packets came in; line 4: 'address vector", *NO_ANSWER),
    "157_v4_fake_nak": ("REQUEST-ACK has no delays",),
    "158_v4_fake_dup": (),
    "160_v4_fake_zero": (),
    "161_v4_fake_nak_g_single": ("REQUEST-ACK has no delays",),
    "163_v4_kea_dies_midway": (),
    "164_v4_kea_pauses_1500ms": (),
    "166_v6_kea_pauses_1500ms": (),
    "167_v4_two_independent_servers": (),
}

# Capture -> (line, key words of the reason, key words of the hint).
REJECTS = {
    "049_v4_f_nor": (184, "must not be specified when -r<rate>", "correct the option"),
    "050_v4_f_F_gt_r": (184, "must not be greater than the exchange rate", "correct the option"),
    "053_v6_i_c": (5, "running perfdhcp: Packets exchange not specified", "rapid commit"),
    "055_v4_i_n_W": (5, "running perfdhcp: Packets exchange not specified", "leave out -W"),
    "089_v4_sigterm": (1, "no final report, 2 interim lines: perfdhcp was killed", "SIGINT"),
    "115_err_no_server": (184, NO_SERVER, "give a server address"),
    "116_err_bad_iface": (184, NO_SERVER, "an interface that exists"),
    "118_err_bad_iface_v6": (5, "Failed to convert string to address 'nosuch0'", "behind -l"),
    "119_err_iface_no_addr": (5, "There is no address for interface: h1", "an address"),
    "121_err_unroutable": (5, "failed to connect to remote endpoint", "route"),
    "122_err_hostname": (5, "Failed to convert string to address 'localhost'", "no host names"),
    "124_err_mismatch_4_6": (5, "are mismatched", "-6 with an IPv6 server"),
    "127_err_unknown_opt": (181, "wrong command line option", "perfdhcp -h"),
    "128_err_no_args": (184, NO_SERVER, "give a server address"),
    "130_err_r_0": (181, "-r<value> must be a positive integer", "correct the option"),
    "131_err_r_neg": (181, "-r<value> must be a positive integer", "correct the option"),
    "133_err_p_frac": (181, "-p<value> must be a positive integer", "correct the option"),
    "134_err_d_0": (181, "drop-time must be a positive number", "correct the option"),
    "136_err_D_0": (181, "-D<value> must be a positive integer", "correct the option"),
    "137_err_n_three": (181, "unexpected 3rd occurrence of -n<value>", "correct the option"),
    "139_err_missing_arg": (181, "wrong command line option", "and its value"),
    "140_err_c_without_i": (184, "-i must be set to use -c", "correct the option"),
    "142_err_i_d_d": (184, "second -d<drop-time> is not compatible with -i", "correct the option"),
    "143_err_A_2": (181, "-A only supports 1", "correct the option"),
    "145_err_g_foo": (181, "value of thread mode (-g) 'foo' is wrong", "correct the option"),
    "146_err_h": (1, "usage text instead of a report", "2>&1"),
    "148_err_V": (181, "wrong command line option", "perfdhcp -h"),
    "149_err_version_long": (181, "wrong command line option", "perfdhcp -h"),
    "151_err_x_e_error": (184, NO_SERVER, "give a server address"),
    "152_err_T_nofile": (5, "unable to open template file /nonexistent", "check the path"),
    "169_err_port_in_use": (5, "Failed to bind socket 3", "with -L"),
    "170_v4_iface_down_midway": (6, "failed after 1 interim line: ERROR: running", "check the link"),
    "input_macs": (1, "no output of perfdhcp was recognised; line 1: '02:00", "`Running:`"),
    "input_relays4": (1, "no output of perfdhcp was recognised; line 1: '10.0.0.2'", "`Running:`"),
}


def capture(name: str) -> bytes:
    (path,) = CAPTURES.glob(f"{name}*.txt")
    return path.read_bytes()


def parts(data: bytes | str) -> list[Report | Reject]:
    return list(perfdhcp.parse(data.encode() if isinstance(data, str) else data))


def report(data: bytes | str) -> Report:
    (part,) = parts(data)
    assert isinstance(part, Report)
    return part


def reject(data: bytes | str) -> Reject:
    (part,) = parts(data)
    assert isinstance(part, Reject)
    return part


def without(text: str, *starts: str) -> str:
    """Leave out the lines that begin so, as versions do that do not print them yet."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(starts))


def observed(found: Report, metric: str) -> list[tuple]:
    """Return (label, t_s, value, unit) of all observations of one metric."""
    return [
        (row["label"], row["t_s"], row["value"], row["unit"]) for row in found.observations if row["metric"] == metric
    ]


def test_every_capture_has_its_line_in_a_table() -> None:
    assert {path.stem for path in CAPTURES.glob("*.txt")} == TRIALS.keys() | REJECTS.keys()


@pytest.mark.parametrize("name", TRIALS)
def test_whole_report_is_one_completed_trial(name: str) -> None:
    found = report(capture(name))
    assert found.line == 1
    assert found.facts["completed"] is True
    assert len(found.warnings) == len(TRIALS[name]), found.warnings
    for said, warning in zip(TRIALS[name], found.warnings, strict=True):
        assert said in warning


@pytest.mark.parametrize("name", REJECTS)
def test_capture_without_report_is_one_reject_that_says_why(name: str) -> None:
    line, reason, hint = REJECTS[name]
    found = reject(capture(name))
    assert found.line == line
    assert reason in found.reason
    assert hint in found.hint


def test_overload_with_small_drop_times() -> None:
    found = report(capture("082"))
    assert found.facts == {
        "tool": "perfdhcp",
        "tool_version": None,
        "command": "perfdhcp -4 -r 6000 -R 10000000 -p 3 -d 0.005 -d 0.005 -l c0 10.0.0.1",
        "method": "drop time 0.005 s/0.005 s; 10000000 clients",
        "protocol": "DHCPv4",
        "scenario": "basic",
        "offered_rate": 6000.0,
        "achieved_rate": 2388.95,
        "rate_unit": "leases/s",
        "sent": 17987 + 9376,
        "received": 9376 + 7179,
        "dropped": 8611 + 2197,
        "malformed": 0,
        "duration_s": 3.0,
        "drop_time_s": 0.005,
        "drop_time_second_s": 0.005,
        "wait_s": 0.0,
        "clients": 10_000_000,
        "completed": True,
    }
    assert found.exchanges[0] == {
        "exchange": "DISCOVER-OFFER",
        "position": 0,
        "sent": 17987,
        "received": 9376,
        "drops": 8611,
        "drop_ratio": pytest.approx(0.478735),
        "drop_ratio_printed": "47.8735",
        "orphans": 2677,
        "rejected": 0,
        "non_unique": 0,
        "collected": 6648,
        "min_delay_ms": 0.301,
        "avg_delay_ms": 19.802,
        "max_delay_ms": 135.707,
        "stdev_delay_ms": 15.614,
    }
    assert found.exchanges[1]["drop_ratio_printed"] == "23.432"
    assert found.intervals == found.observations == []


def test_no_answer_gives_no_delays_although_two_lines_are_glued() -> None:
    first, second = report(capture("028")).exchanges
    for row in (first, second):
        assert [row[f"{name}_delay_ms"] for name in ("min", "avg", "max", "stdev")] == [None] * 4
        assert row["collected"] == 0
    assert (first["drop_ratio"], first["drop_ratio_printed"]) == (1.0, "100")
    assert (second["drop_ratio"], second["drop_ratio_printed"]) == (None, "-nan")


def test_interim_lines_are_split_by_exchange_and_differenced() -> None:
    rows = report(capture("017")).intervals
    assert len(rows) == 3 * 4
    assert rows[8] == {
        "position": 2,
        "t_s": 3.0,
        "exchange": "DISCOVER-OFFER",
        "sent": 600,
        "received": 599,
        "drops": 1,
        "rejected": 0,
        "interval_sent": 201,
        "interval_received": 200,
        "interval_drops": 1,
    }
    assert [row["exchange"] for row in rows[8:]] == [
        *("DISCOVER-OFFER", "REQUEST-ACK", "REQUEST-ACK (renewal)", "RELEASE")
    ]
    assert (rows[0]["interval_sent"], rows[3]["interval_drops"]) == (199, 48)


def test_drops_of_an_interval_are_negative_when_late_answers_come_in() -> None:
    rows = [row for row in report(capture("164")).intervals if row["position"] == 2]
    assert [row["interval_drops"] for row in rows] == [-41, 0]


def test_first_exchange_only_counts_exchanges_and_has_one_drop_time() -> None:
    facts = report(capture("016")).facts
    assert (facts["rate_unit"], facts["achieved_rate"]) == ("exchanges/s", 199.635)
    assert (facts["drop_time_s"], facts["drop_time_second_s"]) == (1.0, None)


def test_renewal_and_release_keep_their_places_when_one_is_missing() -> None:
    assert [row["position"] for row in report(capture("044")).exchanges] == [0, 1, 3]
    assert [row["position"] for row in report(capture("043")).exchanges] == [0, 1, 2]
    rows = report(capture("047")).exchanges
    assert [row["exchange"] for row in rows][2] == "RELEASE-REPLY"


def test_rejected_leases_are_kept_although_nothing_was_dropped() -> None:
    found = report(capture("092"))
    assert [row["rejected"] for row in found.exchanges] == [299, 0]
    assert found.facts["dropped"] == 0


def test_avalanche_summary_becomes_observations() -> None:
    found = report(capture("034"))
    assert observed(found, "provision_time") == [(None, None, 2.21057, "s")]
    assert observed(found, "requests_sent") == [(None, None, 2780, "packets")]
    assert observed(found, "requests_resent") == [(None, None, 780, "packets")]
    assert observed(found, "responses_received") == [(None, None, 2000, "packets")]
    facts = found.facts
    assert (facts["scenario"], facts["protocol"], facts["clients"]) == ("avalanche", "DHCPv6", 1000)
    assert facts["method"] == "avalanche; 1000 clients"
    assert facts["duration_s"] is facts["drop_time_s"] is facts["drop_time_second_s"] is None


def test_avalanche_without_its_summary_is_not_complete() -> None:
    text = capture("034").decode()
    found = report(text[: text.index("It took")])
    assert found.facts["completed"] is False
    assert "summary of the avalanche is missing" in found.warnings[0]


def test_avalanche_of_1_6_tells_its_summary_in_one_line() -> None:
    text = capture("034").decode()
    head = text[: text.index("It took")]
    line = "It took 00:01:30 to provision 1000 clients. 2780 packets were sent, 780 retransmissions"
    found = report(f"{head}{line} needed, received 2000 responses.\n")
    assert observed(found, "provision_time") == [(None, None, 90.0, "s")]
    assert observed(found, "requests_resent") == [(None, None, 780, "packets")]
    assert not found.warnings


def test_timestamps_become_response_times() -> None:
    rows = observed(report(capture("001")), "response_time")
    assert len(rows) == 2 * 59
    assert rows[0] == ("DISCOVER-OFFER", pytest.approx(0.000095), pytest.approx(0.64), "ms")
    assert rows[59][0] == "REQUEST-ACK"


def test_timestamps_are_hours_minutes_seconds() -> None:
    text = capture("008").decode().replace("000000.000116 / 000000.000725", "010130 / 010130.5")
    assert observed(report(text), "response_time")[0][1:3] == (3690.0, 500.0)


def test_leases_are_counted_without_refused_clients() -> None:
    found = report(capture("094"))
    assert observed(found, "leases_listed") == [
        ("SOLICIT-ADVERTISE", None, 100, "leases"),
        ("REQUEST-REPLY", None, 100, "leases"),
    ]
    assert observed(found, "distinct_addresses")[1][2] == 100
    assert observed(report(capture("070")), "leases_listed")[0][2] == 0


def test_short_waits_become_an_observation() -> None:
    assert observed(report(capture("005")), "short_waits") == [(None, None, 17956, "waits")]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("perfdhcp -4 -r 20 -p 3 10.0.0.1", {"protocol": "DHCPv4", "duration_s": 3.0}),
        ("perfdhcp -r 20 -n 50 10.0.0.1", {"protocol": "DHCPv4", "duration_s": 2.5}),
        ("perfdhcp -6 -r 20 -n 50 -p 2 all", {"protocol": "DHCPv6", "duration_s": 2.0}),
        ("perfdhcp -4 -n 100 -n 50 -r 200 -l c0", {"duration_s": 0.25}),
        ("perfdhcp -4 -n 50 -l c0", {"duration_s": None, "clients": 1}),
        ("perfdhcp -4 -d 0.5", {"drop_times_s": (0.5, 1.0)}),
        ("perfdhcp -4 -d 1.5 -d 2 -d 2.5", {"drop_times_s": (1.5, 2.5)}),
        ("perfdhcp -4 -i -d 3", {"drop_times_s": (3.0, None), "exchanges": ("DISCOVER-OFFER",)}),
        ("perfdhcp -4 -W 500000 -R 0", {"wait_s": 0.5, "clients": 1}),
        ("perfdhcp -6 -, avalanche -R 10 -d 2 all", {"scenario": "avalanche", "ignored": ("-d",)}),
        ("perfdhcp -6 --scenario avalanche -R 10", {"scenario": "avalanche"}),
        ("perfdhcp -6 --scenario basic -r 5", {"scenario": "basic", "offered_rate": 5.0}),
        ("perfdhcp -4 -w go on -r 5 10.0.0.1", {"wrapped": True, "offered_rate": 5.0}),
        ("perfdhcp -4 -1 -B -r 5 10.0.0.1", {"offered_rate": 5.0}),
        ("perfdhcp -6 -r 5 -F 1 all", {"exchanges": ("SOLICIT-ADVERTISE", "REQUEST-REPLY", "RELEASE-REPLY")}),
        ("perfdhcp -4 -n3000 -r300", {"duration_s": 10.0}),
        ("perfdhcp -4 -r x -p 1e400 -R", {"offered_rate": None, "duration_s": None, "clients": 1}),
    ],
)
def test_options_are_resolved(command: str, expected: dict) -> None:
    options = parse_command(command)
    assert {name: getattr(options, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("command", "method"),
    [
        ("-4 -r 7 -R 10000000 -p 4", "drop time 1 s/1 s; 10000000 clients"),
        ("-4 -i -r 7 -p 4", "drop time 1 s; 1 client; first exchange only"),
        ("-6 -i -c -r 7 -p 4", "drop time 1 s; 1 client; first exchange only; rapid commit"),
        ("-4 -n 1", "1 request; no rate limit; drop time 1 s/1 s; 1 client"),
        ("-4 -p 5 -n 9", "9 requests; no rate limit; drop time 1 s/1 s; 1 client"),
        ("-4 -r 7", "until interrupted; drop time 1 s/1 s; 1 client"),
        ("-4 -r 7 -p 4 -W 1000000", "drop time 1 s/1 s; 1 client; wait 1 s"),
        (
            "-4 -r 9 -p 1 -u -D 5% -D 7 -o 61,ff -o 60,aa -F 1 -f 2 -e address-only -a 3",
            "drop time 1 s/1 s; 1 client; renew rate 2/s; release rate 1/s;"
            " option 60,aa/61,ff; at most 5%/7 drops; aggressivity 3; unique addresses checked",
        ),
    ],
)
def test_method_names_what_shapes_the_load(command: str, method: str) -> None:
    assert parse_command(f"perfdhcp {command} -l c0 10.0.0.1").method == method


@pytest.mark.parametrize(
    "other",
    [
        "-6 -r 9000 -R 100 -p 4 -d 1 -l c0 all",
        "-4 -r 10 -R 100 -p 4 -d 1 -d 1 10.0.0.1",
        "-4 -r 10 -R 100 -n 40 10.0.0.1",
        "-4 -r 10 -R 100 -p 4 -t 1 -x aeT -s 42 -g single -e address-only -W 0 10.0.0.1",
        "-4 -w a.sh -r 10 -R 100 -p 4",
    ],
)
def test_method_is_the_same_whatever_the_rate_target_and_reporting(other: str) -> None:
    assert parse_command(f"perfdhcp {other}").method == parse_command("perfdhcp -r 1 -p 4 -R 100").method


def test_header_before_1_6_has_no_scenario_line() -> None:
    """Up to 1.5 there were no ratio, orphans, malformed block, scenario or threads."""
    names = ("Scenario", "Multi-thread", "***Malformed", "Malformed", "drops ratio", "orphans")
    text = without(capture("022").decode(), *names, "rejected leases", "non unique")
    found = report(text)
    assert (found.facts["scenario"], found.facts["completed"]) == ("basic", True)
    assert found.facts["malformed"] is None
    row = found.exchanges[1]
    assert (row["sent"], row["drops"], row["max_delay_ms"]) == (3000, 1, 57.642)
    absent = ("drop_ratio", "drop_ratio_printed", "orphans", "rejected", "non_unique")
    assert [row[column] for column in absent] == [None] * 5
    assert not found.warnings


@pytest.mark.parametrize(
    "summary",
    [
        "Delay summary unavailable! No packets received.\n",
        "min delay: inf ms\navg delay: Delay summary unavailable! No packets received.\n",
    ],
)
def test_delay_summary_before_1_6_ends_the_statistics(summary: str) -> None:
    text = re.sub(r"min delay: inf ms\n(?:.*\n){4}collected.*\n", summary, capture("067").decode())
    assert text.count("unavailable!") == 2
    found = report(text)
    assert found.facts["completed"] is True
    assert [row["collected"] for row in found.exchanges] == [None, None]
    assert [row["avg_delay_ms"] for row in found.exchanges] == [None, None]


@pytest.mark.parametrize(
    ("rate", "figures"),
    [
        ("Rate: 299.856, expected rate: 300", (299.856, 300.0)),
        ("Rate: 1.2e+06 exchanges/second, expected rate: 300 exchanges/second", (1.2e6, 300.0)),
        ("Rate: 299.856", (299.856, 300.0)),
        ("Rate: 1.23457e+06 4-way exchanges/second, expected rate: 300", (1234570.0, 300.0)),
        ("Rate: -nan 4-way exchanges/second, expected rate: 300", (None, 300.0)),
    ],
)
def test_rate_line_of_any_version(rate: str, figures: tuple) -> None:
    text = re.sub("Rate: .*", rate, capture("022").decode())
    facts = report(text).facts
    assert (facts["achieved_rate"], facts["offered_rate"]) == figures


def test_interim_lines_before_1_7_2_have_three_fields() -> None:
    text = re.sub(r"; rejected: \S+", "", capture("013").decode())
    rows = report(text).intervals
    assert len(rows) == 8
    assert {row["rejected"] for row in rows} == {None}


@pytest.mark.parametrize(
    ("printed", "ratio"),
    [
        *(("20.3", 0.203), ("4e-05", 4e-7), ("1e+02", 1.0), ("0", 0.0), ("0.000714311", 7.14311e-6)),
        *(("-nan", None), ("nan", None), ("inf", None), ("0.000", 0.0), ("100.000", 1.0)),
    ],
)
def test_drops_ratio_keeps_its_printed_text(printed: str, ratio: float | None) -> None:
    """3.0 prints three significant digits where 2.x prints three decimals."""
    text = capture("022").decode().replace("drops ratio: 0.033 %", f"drops ratio: {printed} %")
    row = report(text).exchanges[1]
    assert row["drop_ratio_printed"] == printed
    assert row["drop_ratio"] == (ratio if ratio is None else pytest.approx(ratio))


def test_standard_deviation_may_be_no_number() -> None:
    text = capture("022").decode().replace("std deviation: 1.075 ms", "std deviation: -nan ms")
    found = report(text)
    assert found.exchanges[1]["stdev_delay_ms"] is None
    assert found.facts["completed"] is True


def test_clean_interim_lines_have_no_header_and_any_separator() -> None:
    for separator in (",", ";", " ", "|", "--", " / ", "x"):
        text = capture("014").decode().replace(",", separator, 7 * 3).replace(f"second{separator}", "second,")
        found = report(text)
        assert [row["sent"] for row in found.intervals] == [199, 199, 399, 399, 599, 599]
        assert [row["t_s"] for row in found.intervals] == [None] * 6
        facts = found.facts
        assert (facts["command"], facts["method"], facts["scenario"]) == (None, None, None)
        assert (facts["offered_rate"], facts["protocol"]) == (200.0, "DHCPv4")
        assert (facts["duration_s"], facts["drop_time_s"], facts["clients"]) == (None, None, None)


def test_decoded_arguments_stand_in_for_a_missing_header() -> None:
    """With -C and -x a there is no header, but the arguments are told."""
    text = capture("083").decode()
    facts = report(text[text.index("IPv4") :]).facts
    assert (facts["duration_s"], facts["clients"], facts["drop_time_s"]) == (2.0, 100000, 0.5)
    assert (facts["command"], facts["method"], facts["wait_s"]) == (None, None, None)


def test_a_clean_report_with_fewer_exchanges_than_its_interim_lines_is_cut_off() -> None:
    text = capture("014").decode()
    found = report(text[: text.index("***Statistics for: REQUEST-ACK")])
    assert found.facts["completed"] is False
    assert "Expected 2 exchanges, found DISCOVER-OFFER" in found.warnings[0]


def test_reports_appended_to_one_file_are_told_apart() -> None:
    names = ["014", "014", "089", "014", "127", "143", "022", "170", "040", "146", "001", "053", "014"]
    kinds = [type(part).__name__[:3] for part in parts(b"".join(capture(name) for name in names))]
    assert " ".join(kinds) == "Rep Rep Rej Rep Rej Rej Rep Rej Rep Rej Rep Rej Rep"


def test_clean_interim_lines_of_a_killed_trial_are_not_of_the_next_one() -> None:
    killed = "199,199,199,199,0,0,0,0\n399,399,399,399,0,0,0,0\n"
    first, second = parts(killed.encode() + capture("014"))
    assert isinstance(first, Reject)
    assert "2 interim lines" in first.reason
    assert isinstance(second, Report)
    assert (second.line, len(second.intervals)) == (3, 6)


def test_a_line_between_two_reports_is_a_warning_with_its_number() -> None:
    first, second = parts(capture("019") + b"=== next: 200/s ===\n" + capture("020"))
    lines = capture("019").count(b"\n")
    assert first.warnings == [f"Line {lines + 1} is not understood: '=== next: 200/s ==='."]
    assert second.line == lines + 2
    assert not second.warnings


def test_many_strange_lines_are_summed_up() -> None:
    warnings = report(capture("019") + b"noise\n" * 10).warnings
    assert len(warnings) == 4
    assert "7 more lines" in warnings[3]


def test_output_of_a_wrapped_command_is_no_warning() -> None:
    assert not report(capture("110")).warnings
    loud = capture("110").replace(b" -w odd/input_wrapped.sh", b"")
    assert len(report(loud).warnings) == 2


def test_messages_of_stderr_may_come_in_the_middle_and_glued() -> None:
    failed = "Failed to receive DHCP packet: "
    message = "Truncated DHCPv4 packet (len=100) received, at least 236 is expected."
    lines = capture("163").decode().splitlines()
    lines.insert(12, failed + message)
    lines[3] = failed + lines[3] + "\n" + message
    lines[11] = failed + message + lines[11]
    found = report("\n".join(lines) + "\n")
    whole = report(capture("163"))
    assert (found.facts, found.exchanges) == (whole.facts, whole.exchanges)
    assert found.intervals == whole.intervals
    assert len(found.warnings) == 1
    assert "3 packets could not be received" in found.warnings[0]


def test_error_text_of_two_lines_is_quoted_whole() -> None:
    text = (
        capture("127")
        .decode()
        .replace(
            "wrong command line option", "in case of avalanche scenario number\nof clients must be specified using -R"
        )
    )
    assert "scenario number of clients must be specified" in reject(text).reason


def test_errors_before_1_6_come_before_the_usage() -> None:
    usage = capture("146").decode()
    text = f"Error parsing command line options: wrong option\n{usage}"
    first, second = parts(text + text)
    assert first.reason == "perfdhcp failed: Error parsing command line options: wrong option"
    assert second.line == text.count("\n") + 1
    assert "went down" in reject("Running: perfdhcp -4\nError running perfdhcp: send failed\n").hint


@pytest.mark.parametrize("text", ["VERSION: 2.2.0\n", "2.6.0\n", "3.1.0-git\n"])
def test_version_text_is_no_report_but_tells_the_version_of_the_next(text: str) -> None:
    assert "version text of perfdhcp" in reject(text).reason
    found = parts(text.encode() + capture("019") + capture("020"))
    version = text.removeprefix("VERSION: ").strip()
    assert [part.facts["tool_version"] for part in found] == [version, version]


@pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\0\0", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_empty_file_says_so(data: bytes) -> None:
    assert reject(data).reason == "the file is empty"


@pytest.mark.parametrize("name", ["013", "022", "034", "154", "001"])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"\n", b"\r\r\n"),
        lambda data: data.replace(b"\n", b"\r"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.decode().encode("utf-16"),
        gzip.compress,
        lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:]),
        lambda data: b"\0\0\0" + data + b"\0\0",
        lambda data: data.replace(b"\n", b"\n    "),
        lambda data: b"Script started on 2026-11-20\n" + data + b"\nScript done on 2026-11-20\n",
        lambda data: b"\x1b[?2004l\r" + data.replace(b"***", b"\x1b[1m***\x1b[0m"),
    ],
    ids=[
        *("crlf", "crcrlf", "cr", "bom", "utf16", "gzip", "gzip-members", "nul", "indented"),
        *("typescript", "escapes"),
    ],
)
def test_way_of_recording_does_not_change_the_trial(name: str, wrap) -> None:
    data = wrap(capture(name))
    found, plain = report(data), report(capture(name))
    assert recognise(data) is perfdhcp
    assert (found.facts, found.exchanges) == (plain.facts, plain.exchanges)
    assert (found.intervals, found.observations) == (plain.intervals, plain.observations)
    assert len(found.warnings) == len(plain.warnings)


def test_prompt_and_echo_of_a_typescript_are_warnings() -> None:
    text = "Script started on 2026-11-20 [TERM=xterm]\n$ perfdhcp -4 -r 1\n"
    found = report(text.encode() + capture("019"))
    assert found.line == 3
    assert found.warnings == ["Line 2 is not understood: '$ perfdhcp -4 -r 1'."]


def test_ctrl_c_in_a_typescript_is_an_interrupted_trial() -> None:
    text = capture("086").decode().replace("***Rate", "^C***Rate")
    found = report(text)
    assert found.facts["completed"] is False
    assert found.warnings == ["The trial was interrupted by Ctrl-C."]


def test_header_glued_to_a_line_without_newline_begins_a_trial() -> None:
    first, second = parts(capture("019")[:300] + capture("020"))
    assert "report cut off in the statistics of DISCOVER-OFFER" in first.reason
    assert isinstance(second, Report)


def test_file_cut_at_its_head_is_a_trial_as_long_as_the_first_exchange_is_whole() -> None:
    text = capture("022").decode()
    found = report(text[10:])
    assert found.facts["command"] is None
    assert found.warnings[0].startswith("There is no `Running:` line")
    found = reject(text[text.index("received packets") :])
    assert found.reason == "report cut off at its head, before the statistics of REQUEST-ACK"
    assert "at its head" in reject("collected packets: 0\n").reason


@pytest.mark.parametrize("name", ["017", "034", "067", "014"])
def test_report_cut_off_at_any_byte_is_accounted_for(name: str) -> None:
    data = capture(name)
    whole = report(data)
    statistics = data.rindex(b"collected packets: 0") + len(b"collected packets: 0")
    for end in range(len(data)):
        found = parts(data[:end])
        assert len(found) == 1
        (part,) = found
        if isinstance(part, Reject):
            assert end < statistics
            continue
        assert part.exchanges == whole.exchanges[: len(part.exchanges)]
        completed = b"clients." in data[:end] if b"avalanche" in data else end >= statistics
        assert part.facts["completed"] == completed
        assert completed or any("cut off" in warning for warning in part.warnings)


def test_last_number_of_a_file_without_newline_may_be_cut_and_is_not_taken() -> None:
    data = capture("082").rstrip(b"\n")
    assert data.endswith(b"collected packets: 1246")
    found = report(data)
    assert found.facts["completed"] is True
    assert found.exchanges[1]["collected"] is None
    assert "1246 (the file ends here)" in found.warnings[0]


def test_second_exchange_that_is_not_whole_is_left_out() -> None:
    text = capture("022").decode().replace("sent packets: 3000\nreceived packets: 2999", "sent packets: 30x")
    found = report(text)
    assert [row["exchange"] for row in found.exchanges] == ["DISCOVER-OFFER"]
    assert found.facts["completed"] is False
    assert "statistics of REQUEST-ACK are incomplete" in found.warnings[0]
    assert "'sent packets: 30x'" in found.warnings[1]


@pytest.mark.parametrize("title", ["DISCOVER-OFFER", "DISCOVER", "DISCOVER-OFFER***OFFER***", "***"])
def test_exchange_with_a_damaged_title_does_not_count(title: str) -> None:
    text = capture("022").decode().replace("DISCOVER-OFFER***", title)
    assert "report cut off in the statistics of" in reject(text).reason


@pytest.mark.parametrize("rate", ["0", "-0.0"])
def test_rate_of_zero_beside_answered_exchanges_makes_the_report_incomplete(rate: str) -> None:
    found = report(re.sub(r"Rate: [0-9.]+", f"Rate: {rate}", capture("022").decode()))
    assert found.facts["completed"] is False
    assert any("contradicts 2999 exchanges" in each for each in found.warnings), found.warnings


def test_counter_that_no_column_can_hold_is_damage() -> None:
    text = capture("022").decode().replace("sent packets: 3000", "sent packets: " + "9" * 30, 1)
    assert "sent packets: 999" in reject(text).reason


def test_gzip_that_is_damaged_keeps_what_could_be_read() -> None:
    packed = gzip.compress(capture("022") * 2, compresslevel=0)
    *found, fault = parts(packed[:-400])
    assert isinstance(found[0], Report)
    assert "gzip file is damaged" in fault.reason
    assert "gzip file is damaged" in reject(packed[:5]).reason


def test_text_that_does_not_fit_in_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perfdhcp, "MAX_TEXT_BYTES", 1024**2)
    bomb = gzip.compress(capture("022") * 5000)
    assert len(bomb) < 100_000
    for data in (bomb, b"x" * (1024**2 + 1)):
        assert reject(data).reason == "more than 1 MiB of text"


@pytest.mark.parametrize(
    "data",
    [
        b"1;" * 1_000_000,
        b"1" * 2_000_000,
        b"x," * 1_000_000,
        b"\x1b[" * 1_000_000,
        b"^C" * 1_000_000,
        b"Running: perfdhcp -4 -w " + b"a " * 300_000,
        b"Running: perfdhcp\n***Leases for X***\n" + b"a:" * 1_000_000,
        b"***Statistics for: DISCOVER-OFFER***\ndrops ratio: " + b"1" * 2_000_000,
        b"Rate: " + b"a/second" * 200_000,
        b"ERROR: running perfdhcp: " + b"x" * 1_000_000 + b"\n" + b"y" * 1_000_000,
        b"***Statistics for: " + b"X" * 1_000_000,
    ],
    ids=[
        *("interim", "digits", "text", "escapes", "ctrl-c", "command", "lease", "ratio", "rate"),
        *("error", "exchange"),
    ],
)
def test_huge_line_is_one_reject(data: bytes) -> None:
    assert len(reject(data).reason) < 1000


@pytest.mark.parametrize("name", [*TRIALS, *(name for name in REJECTS if not name.startswith("input"))])
def test_capture_is_recognised(name: str) -> None:
    assert recognise(capture(name)) is perfdhcp


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"02:00:00:00:00:01\n",
        b"10.0.0.2\n10.0.0.50\n",
        b"sent,received,drops\n1,2,3\n",
        b'{"command": "/usr/sbin/perfdhcp -4 -r 1"}\n',
        b"Statistics:\n\n  Queries sent: 1\n",
        b"1,2,3,4\n",
        b"\x1f\x8b damaged",
        (CAPTURES / "INDEX.md").read_bytes(),
    ],
)
def test_other_text_is_not_recognised(head: bytes) -> None:
    assert recognise(head) is None


def test_head_of_a_long_capture_is_recognised() -> None:
    clean = b"199,199,199,199,0,0,0,0\n" * 4000
    assert recognise(clean[: 64 * 1024]) is perfdhcp
    assert recognise(gzip.compress(clean, compresslevel=0)[: 64 * 1024]) is perfdhcp


def test_a_trial_that_its_drops_ended_has_no_duration() -> None:
    found = report(capture("073_v4_dead_D_abs"))
    assert (found.facts["duration_s"], found.facts["offered_rate"], found.facts["sent"]) == (None, 100.0, 10)
    enough = capture("077_v4_D_low_inflight").replace(b"-r 5000", b"-r 5")
    assert report(enough).facts["duration_s"] == 5.0  # all that was asked for was sent


def test_how_many_clients_a_list_of_mac_addresses_holds_is_not_known() -> None:
    found = report(capture("013_v6_t1").replace(b"-R 100000", b"-M macs.txt"))
    assert found.facts["clients"] is None
    assert "client" not in found.facts["method"]
    assert "mac list macs.txt" in found.facts["method"]


def test_a_port_that_cannot_be_bound_may_be_taken_or_may_need_root() -> None:
    (found,) = perfdhcp.parse(capture("169_err_port_in_use"))
    assert "run it as root" in found.hint
    assert "stop the program that holds the port" in found.hint
