"""dnsblast, which never ends after a lost answer, stalls at some rates and stops printing too early, measured."""

import json
import os
import sys
from pathlib import Path

import pytest

from dropline.errors import DroplineError
from dropline.measure.drive import measure
from dropline.measure.generator import Dnsblast
from dropline.measure.plan import Generator, Plan
from tests.homes import asking, built

CAPTURES = Path(__file__).parent.parent / "captures/dns"
DNSBLAST = Dnsblast(Generator(tool="dnsblast", target="10.0.0.1#5300"))
KNEE = 3000
PLAN = """campaign: {name}
generator: {{tool: dnsblast, target: 10.0.0.1#5300}}
goals: [isc]
rates: {{from: 200, to: 40000}}
trial_s: 1
warm_up_s: 0
pause_s: 0
bracket: 0.04
runs: {{at_least: 1, at_most: 1}}
defaults: {{product: PowerDNS Authoritative Server, backend: lmdb, testbed: none}}
configurations: {{{name}: {{}}}}
"""


@pytest.fixture
def lab(tmp_path, monkeypatch):
    monkeypatch.setattr("dropline.measure.drive._Measurement._collect", lambda self: None)
    fake = Path(__file__).with_name("fake_dnsblast.py").read_text()
    (tmp_path / "dnsblast").write_text(f"#!{sys.executable} -SE\n{fake}")
    (tmp_path / "dnsblast").chmod(0o755)
    (tmp_path / "knee").write_text(f"{KNEE}")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def measured(lab, name):
    plan = lab / f"{name}.yaml"
    plan.write_text(PLAN.format(name=name))
    return measure(Plan.load(plan), plan, lab / name, print, print)


def count_alone(lab):
    """Let the generator's machine tell its UDP counters, and nothing else send from there."""
    (lab / "snmp").touch()
    (lab / "cat").write_text(f"#!/bin/sh\nexec /bin/cat {lab}/snmp\n")
    (lab / "cat").chmod(0o755)


def test_a_campaign_holds_the_truth_and_a_build_judges_it_alike(lab):
    bound = measured(lab, "bound")  # the counters are those of this whole machine
    count_alone(lab)
    counted = measured(lab, "counted")
    truth = KNEE / 0.975
    (at_least,), (found,) = bound.found, counted.found
    assert found.low / 0.975 < truth < found.high / 0.975 < 1.05 * found.low / 0.975
    assert at_least.high < found.low  # what the last line lacks counts as lost

    with asking(built(lab / "home", bound.folder, counted.folder, rejects=0)) as asked:
        capacities = asked("""
            select campaign, status, rate_interpolated, ci_low, ci_high from capacity
            where origin = 'measured' and loss_goal = 'isc' order by campaign
        """)
        told = asked("""
            select count(*), count(*) filter (where not completed),
                max(abs(loss_packet - greatest(0, 1 - 3000 / offered_rate)))
            from trials where campaign = 'counted'
        """)
    for row, each in zip(capacities, (at_least, found), strict=True):
        assert row[:2] == (each.configuration, "bracketed")
        assert row[2:] == pytest.approx((each.rate, each.low, each.high))
    assert told == [(len([*counted.folder.glob("*/rep1/*.txt")]), 0, pytest.approx(0, abs=1e-9))]
    sidecars = [json.loads(path.read_bytes()) for path in counted.folder.glob("*/rep1/*.json")]
    assert {(each["ended_by"], each["exit_code"]) for each in sidecars} == {("itself", 0), ("SIGINT after 2 s", 130)}


def test_a_generator_that_stalls_is_at_its_limit(lab):
    (lab / "most").write_text("1700")
    outcome = measured(lab, "stalling")
    assert [each.rate for each in outcome.found] == [None]
    assert "The generator can send only 1,600/s, so the search ends there." in outcome.text()
    assert len([*outcome.folder.glob("stalling/rep1/rate3200-*.broken")]) == 4


def test_a_generator_that_is_always_late_ends_the_measurement(lab):
    (lab / "late").touch()
    with pytest.raises(DroplineError, match=r"failed 4 times at 200/s: timeout .* dnsblast 10\.0\.0\.1 200 200 5300"):
        measured(lab, "slow")


def test_only_rates_at_which_dnsblast_does_not_stall_are_asked_for():
    stalling = (300, 750, 2500, 3000, 3500, 5000, 7500, 9000, 12_000, 15_000)
    harmless = (10, 100, 200, 400, 500, 1000, 1500, 2000, 4000, 6000, 8000, 10_000, 20_000)
    assert not any(map(DNSBLAST.can_send, stalling))
    assert all(map(DNSBLAST.can_send, harmless))


@pytest.mark.parametrize(
    ("capture", "counted", "loss"),
    [
        ("dnsblast/lmdb/r1/02000pps", None, 0.3270),
        ("dnsblast/lmdb/r1/02000pps", {"UdpOutDatagrams": 10_000, "UdpInDatagrams": 7988}, 0.2012),
        ("dnsblast/lmdb/r1/02000pps", {"UdpOutDatagrams": 10_001, "Udp6InDatagrams": 10_002}, 0.0),
        # the server's datagrams are among them, or some answers were not read
        ("dnsblast/lmdb/r1/02000pps", {"UdpOutDatagrams": 17_988, "UdpInDatagrams": 9000}, 0.3270),
        ("dnsblast/lmdb/r1/02000pps", {"UdpOutDatagrams": 10_000, "UdpInDatagrams": 6000}, 0.3270),
        ("dnsblast-odd/answers-doubled", None, None),
        ("dnsblast-odd/stall-prone-rate", None, None),
        ("dnsblast-odd/sigint-midway", None, None),
        ("dnsblast-odd/pps-0", None, None),
    ],
)
def test_a_trial_counts_only_if_all_was_sent_and_its_loss_is_a_bound_or_counted(capture, counted, loss):
    meta = json.loads((CAPTURES / capture / "meta.json").read_bytes())
    count, pps = map(int, meta["argv"][2:4])
    sidecar = {"requests_planned": count, "udp_delta": {"generator": counted or {}}}
    found = DNSBLAST.read((CAPTURES / capture / "dnsblast.out").read_bytes(), pps, sidecar)
    assert (found and found.losses["packet"]) == (loss if loss is None else pytest.approx(loss, abs=5e-5))
