"""What the search takes from a generator's output is what a build takes from it."""

from pathlib import Path

import duckdb
import pytest

from dropline.measure.generator import Dnsblast, Dnsperf, Perfdhcp, words_of
from dropline.measure.plan import Generator

ROOT = Path(__file__).parent.parent.parent
PERFDHCP = Generator(tool="perfdhcp", target="10.0.0.1", arguments=("-4", "-R", "1000"))
DNSPERF = Generator(tool="dnsperf", target="10.0.0.1#5300")
DNSBLAST = Generator(tool="dnsblast", target="10.0.0.1#5300")


def test_losses_and_rates_are_those_of_a_build(warehouse_home):
    with duckdb.connect(str(warehouse_home / "warehouse.duckdb"), read_only=True) as connection:
        trials = connection.execute("""
            select campaign, source_path, offered_rate, loss_worst_exchange, loss_packet, loss_lease, achieved_rate,
                is_generator_limited
            from trials where tool = 'perfdhcp' and completed and campaign in ('kea-2.2-backends', 'kea-2.2-ha')
            order by all
        """).fetchall()
    assert len(trials) > 300
    for campaign, path, rate, worst, packet, lease, achieved, is_limited in trials[::4]:
        found = Perfdhcp(PERFDHCP).read((ROOT / "examples" / campaign / path).read_bytes(), int(rate), {})
        assert found.losses == pytest.approx({"worst_exchange": worst, "packet": packet, "lease": lease}), path
        assert (found.achieved, found.is_limited) == (pytest.approx(achieved), is_limited), path


def test_a_dnsperf_report_is_read():
    output = (ROOT / "tests/captures/dns/tools/dnsperf/lmdb-S0.5-two-threads/dnsperf.out").read_bytes()
    found = Dnsperf(DNSPERF).read(output, 1000, {})
    assert (found.rate, found.losses["packet"], found.errors, found.is_limited) == (1000, 0, 0, False)
    assert found.achieved == pytest.approx(1000, rel=1e-3)
    behind = Dnsperf(DNSPERF).read(output.replace(b"-Q 1000", b"-Q 2000"), 2000, {})
    assert (behind.is_limited, behind.is_unsustained) == (True, True)


@pytest.mark.parametrize("generator", [Perfdhcp(PERFDHCP), Dnsperf(DNSPERF), Dnsblast(DNSBLAST)])
@pytest.mark.parametrize("output", [b"", b"Killed", b"Running: perfdhcp -4 -r 10 -p 1 10.0.0.1\nScenario: basic.\n"])
def test_what_broke_off_is_no_trial(generator, output):
    assert generator.read(output, 10, {"requests_planned": 10}) is None


def test_commands_name_rate_time_and_target():
    assert Perfdhcp(PERFDHCP).command(500, 10) == ["perfdhcp", "-4", "-R", "1000", "-r", "500", "-p", "10", "10.0.0.1"]
    assert Dnsperf(DNSPERF).command(500, 10) == ["dnsperf", "-s", "10.0.0.1", "-p", "5300", "-l", "10", "-Q", "500"]
    limit = ["timeout", "--preserve-status", "--signal=INT", "11"]
    assert Dnsblast(DNSBLAST).command(500, 10) == [*limit, "dnsblast", "10.0.0.1", "5000", "500", "5300"]
    near = DNSPERF.model_copy(update={"prefix": "ip netns exec a"})
    assert words_of(near, ["dnsperf"]) == ["ip", "netns", "exec", "a", "dnsperf"]
    assert words_of(DNSPERF.model_copy(update={"host": "me@lab"}), ["dnsperf", "a b"])[-2:] == [
        "me@lab",
        "dnsperf 'a b'",
    ]
