"""Real servers in network namespaces of their own, measured with the bundled plans from the command line."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest
from dropline.measure.plan import begin

ROOT = Path(__file__).parent.parent.parent
SHORTER = (
    (r"trial_s: \d+", "trial_s: 1"),
    (r"warm_up_s: \d+", "warm_up_s: 0"),
    (r"pause_s: \d+", "pause_s: 0"),
    (r"runs: .*", "runs: {at_least: 1, at_most: 1}\nbracket: 0.3"),
    (r"goals: .*", "goals: [isc]"),
    (r"rates: .*", "rates: {from: 1000, to: 30000}"),
)
NEEDED = {
    "kea": ("ip", "kea-dhcp4", "perfdhcp"),
    "kea6": ("ip", "kea-dhcp6", "perfdhcp"),
    "powerdns": ("ip", "pdns_server", "pdnsutil", "dnsperf"),
    "powerdns by dnsblast": ("ip", "pdns_server", "pdnsutil", "dnsblast"),
}
BY_DNSBLAST = (
    (r"  tool: dnsperf", "  tool: dnsblast"),
    (r"  arguments: .*", ""),
    (r"rates: .*", "rates: {from: 50, to: 30000}"),
)
MARK = "DROPLINE_TESTED_IN"
ANSWER = r"^{}, isc, 1 run: (?:[\d,]+/s, bracket \[([\d,]+), ([\d,]+)\]|above|below)"


def namespaces():
    """Return the network namespaces of the plans; another test has others."""
    listed = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
    return {"dropline-server", "dropline-clients"} & {*listed.split()}


def started_from(folder):
    """Return the processes that the measurement of `folder` started, which have its environment."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it ended meanwhile
            found += [environment] if f"{MARK}={folder}".encode() in environment.read_bytes().split(b"\0") else []
    return found


def left_by(folder):
    """Return what the measurement of `folder` has left after at most five seconds: a busy kernel takes its time."""
    for _ in range(50):
        files = [*Path("/var/lib/kea").glob("dropline-*"), *Path("/var/tmp").glob("dropline-pdns")]  # noqa: S108
        if not (left := [*namespaces(), *started_from(folder), *files]):
            break
        time.sleep(0.1)
    return left


def short_plan(product, folder):
    if missing := [each for each in NEEDED[product] if not shutil.which(each)]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    if os.geteuid() or subprocess.run(["ip", "netns", "add", f"try-{os.getpid()}"]).returncode:
        pytest.skip("no network namespaces here")
    subprocess.run(["ip", "netns", "delete", f"try-{os.getpid()}"], check=True)
    plan = begin(product.partition(" ")[0], folder)
    text = plan.read_text()
    for pattern, shorter in [*SHORTER, *(BY_DNSBLAST if "dnsblast" in product else ())]:
        text, changed = re.subn(rf"^{pattern}", shorter, text, flags=re.MULTILINE)
        assert changed == 1, pattern
    plan.write_text(text)
    return plan


def measuring(plan, folder):
    return [sys.executable, "-m", "dropline", "measure", str(plan), "--folder", str(folder)]


def assert_measured(plan, folder, configurations):
    """Measure; each configuration has a bracket, or is told where the generator is the slower one."""
    done = subprocess.run(measuring(plan, folder), cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [re.search(ANSWER.format(name), done.stdout, re.MULTILINE) for name in configurations.split()]
    assert all(found), done.stdout
    assert all(each[1] for each in found) or "The generator can send only" in done.stdout


@pytest.mark.parametrize(
    ("product", "configurations"),
    [
        ("kea", "single multi"),
        ("kea6", "single multi"),
        ("powerdns", "cached uncached"),
        ("powerdns by dnsblast", "cached uncached"),
    ],
)
def test_a_real_server_is_measured_unattended_killed_and_measured_on(tmp_path, monkeypatch, product, configurations):
    plan, out = short_plan(product, tmp_path / "lab"), tmp_path / "out"
    monkeypatch.setenv(MARK, str(out))
    killed = subprocess.Popen(
        measuring(plan, out), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    while len(list(out.glob("*/rep1*/*.txt"))) < 3:
        assert killed.poll() is None, killed.stderr.read()
        time.sleep(0.1)
    assert started_from(out)
    killed.terminate()
    killed.communicate(timeout=60)
    assert killed.returncode == 130
    assert left_by(out) == []

    before = {path.name for path in out.glob("*/rep1*/*.txt")}
    assert_measured(plan, out, configurations)
    assert before < {path.name for path in out.glob("*/rep1/*.txt")}
    assert left_by(out) == []

    assert ingest([out], Lake.create(tmp_path / "lake")).rejects == []
    sidecars = [json.loads(path.read_bytes()) for path in out.glob("*/rep1/*.json")]
    counter = "Udp6InDatagrams" if product == "kea6" else "UdpInDatagrams"
    assert max(each["udp_delta"]["server"].get(counter, 0) for each in sidecars) > 100
    assert all(each["server_cpu_s"] >= 0 for each in sidecars)
