"""Real servers in network namespaces of their own, measured with the bundled plans from the command line."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dropline.ingest.intake import ingest
from dropline.ingest.lake import Lake
from dropline.measure.initial import begin

ROOT = Path(__file__).parent.parent.parent
SHORTER = (
    (r"trial_s: \d+", "trial_s: 1"),
    (r"warm_up_s: \d+", "warm_up_s: 0"),
    (r"pause_s: \d+", "pause_s: 0"),
    (r"runs: .*", "runs: {at_least: 1, at_most: 1}\nbracket: 0.3"),
    (r"goals: .*", "goals: [isc]"),
)
NEEDED = {"kea": ("ip", "kea-dhcp4", "perfdhcp"), "powerdns": ("ip", "pdns_server", "pdnsutil", "dnsperf")}


def namespaces():
    return subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("product", "configurations"), [("kea", "single multi"), ("powerdns", "cached uncached")])
def test_a_real_server_is_measured_unattended_and_nothing_is_left(tmp_path, product, configurations):
    if missing := [each for each in NEEDED[product] if not shutil.which(each)]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    if os.geteuid() or subprocess.run(["ip", "netns", "add", f"dropline-try-{os.getpid()}"]).returncode:
        pytest.skip("no network namespaces here")
    subprocess.run(["ip", "netns", "delete", f"dropline-try-{os.getpid()}"], check=True)
    plan = begin(product, tmp_path / "lab")
    text = plan.read_text()
    for pattern, shorter in SHORTER:
        text, changed = re.subn(rf"^{pattern}", shorter, text, flags=re.MULTILINE)
        assert changed == 1, pattern
    plan.write_text(text)
    command = [sys.executable, "-m", "dropline", "measure", str(plan), "--folder", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in configurations.split():
        assert re.search(rf"^{name}, isc, 1 runs: [\d,]+/s, bracket \[[\d,]+, [\d,]+\]$", done.stdout, re.MULTILINE)
    assert "dropline-server" not in namespaces()
    assert not list(Path("/var/lib/kea").glob("dropline-*"))
    assert not Path("/var/tmp/dropline-pdns").exists()  # noqa: S108 - of the plan

    lake = Lake.create(tmp_path / "lake")
    assert ingest([tmp_path / "out"], lake).rejects == []
    sidecar = json.loads(next((tmp_path / "out").glob("*/rep1/*.json")).read_bytes())
    assert sidecar["udp_delta"]["server"]["UdpInDatagrams"] > 100
    assert sidecar["server_cpu_s"] >= 0
