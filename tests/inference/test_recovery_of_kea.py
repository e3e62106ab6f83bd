"""The requests of a cold start, held against a real Kea that perfdhcp's avalanche asks for leases.

Kea gets a small share of a processor, so that it is the bottleneck on every machine; its rate wavers by a third then.
One exchange in place of two needs 1.5 to 1.9 times fewer requests. The time until the last client has its lease is not
judged: it jumps by a whole time-out with the luck of the last one.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from dropline.inference.recovery import Server, Timers, Wait, flow, simulate, steady

SERVER = f"dropline-kea-{os.getpid()}"
CLIENTS = f"dropline-clients-{os.getpid()}"
ADDRESS = "10.0.0.1"
CLIENTS_PER_LPS = 6
REQUEST_BYTES = 1280  # what Linux counts for one request in a receive buffer
QUOTA_US, PERIOD_US = 1000, 50_000  # of processor time
READY_WITHIN_S = 60
PATIENCE_S = 180


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=PATIENCE_S)


def perfdhcp(*arguments):
    """What perfdhcp prints; perfdhcp 2.2 at times stops over the order of its own timestamps, and is started again."""
    command = ["ip", "netns", "exec", CLIENTS, "perfdhcp", "-4", *arguments, ADDRESS]
    for _ in range(8):
        run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
        if "timestamp must not be greater" not in run.stdout + run.stderr:
            return run.stdout
        time.sleep(1)
    pytest.fail(f"perfdhcp stopped eight times:\n{run.stdout}{run.stderr}")


def number(pattern, printed):
    found = re.search(pattern, printed)
    assert found, f"expected {pattern} in:\n{printed}"
    return float(found[1])


def configuration(folder):
    kea = {
        "interfaces-config": {"interfaces": ["s0"], "dhcp-socket-type": "udp"},
        "subnet4": [{"id": 1, "subnet": "10.0.0.0/8", "pools": [{"pool": "10.1.0.0-10.255.255.254"}]}],
        "lease-database": {"type": "memfile", "name": str(folder / "leases.csv"), "lfc-interval": 0},
        "multi-threading": {"enable-multi-threading": False},
        "loggers": [{"name": "kea-dhcp4", "severity": "WARN", "output_options": [{"output": str(folder / "kea.log")}]}],
    }
    return json.dumps({"Dhcp4": kea})


def throttle(stack):
    """A new control group that limits the processor time of its processes, of version 2 or 1."""
    root = Path("/sys/fs/cgroup")
    unified = (root / "cgroup.controllers").exists()
    group = (root if unified else root / "cpu") / SERVER
    group.mkdir()
    stack.callback(group.rmdir)
    if unified:
        (group / "cpu.max").write_text(f"{QUOTA_US} {PERIOD_US}")
    else:
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(QUOTA_US))
    return group


@pytest.fixture
def kea(tmp_path):
    """A throttled Kea in a network of its own; nothing is left of it, also when the tests are told to end."""
    if missing := [each for each in ("ip", "kea-dhcp4", "perfdhcp") if not shutil.which(each)]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    with ExitStack() as stack:
        stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, lambda *_: pytest.exit("ended")))
        try:
            for name in (SERVER, CLIENTS):
                ip("netns", "add", name)
                stack.callback(ip, "netns", "delete", name)
            group = throttle(stack)
            ip("link", "add", "s0", "netns", SERVER, "type", "veth", "peer", "name", "c0", "netns", CLIENTS)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no network namespaces or control groups here: {error}")
        for name, link, address in ((SERVER, "s0", ADDRESS), (CLIENTS, "c0", "10.0.0.2")):
            ip("-n", name, "address", "add", f"{address}/8", "dev", link)
            ip("-n", name, "link", "set", link, "up")
        file = tmp_path / "kea.json"
        file.write_text(configuration(tmp_path))
        folders = dict.fromkeys(("KEA_PIDFILE_DIR", "KEA_LOCKFILE_DIR"), str(tmp_path))
        started = stack.enter_context(
            subprocess.Popen(
                ["ip", "netns", "exec", SERVER, "kea-dhcp4", "-c", str(file)],
                env=os.environ | folders | {"KEA_LFC_EXECUTABLE": "/bin/true"},
            )
        )
        stack.callback(started.kill)
        deadline = time.monotonic() + READY_WITHIN_S
        while not re.search(r"received packets: [1-9]", said := perfdhcp("-r", "20", "-p", "1", "-W", "200000")):
            assert started.poll() is None, "Kea ended"
            assert time.monotonic() < deadline, f"Kea does not answer within {READY_WITHIN_S} s:\n{said}"
        (group / "cgroup.procs").write_text(str(started.pid))
        yield


def timers():
    """What perfdhcp does: 1, 2, 4 ... s after the *first* request, less or more by 1 s, drawn anew every 0.2 s.

    Of these draws the smallest counts: it repeats half a second sooner than the time-out on average.
    """

    def exchange(first):
        later = (2.0**attempt for attempt in range(6))
        waits = [Wait(s - 0.5, s + 0.5, s, first + min(k, 6)) for k, s in enumerate(later, 2)]
        return [Wait(0.2, 1.2, 0.7, first + 1), *waits]

    return Timers((*exchange(0), *exchange(7)), 7, 14)


def test_clients_of_a_real_kea_repeat_as_often_as_is_simulated(kea):
    capacity = number(r"Rate: ([\d.]+) ", perfdhcp("-r", "2500", "-R", "1000000", "-p", "5"))
    clients = round(CLIENTS_PER_LPS * capacity)
    printed = perfdhcp("--scenario", "avalanche", "-R", str(clients), "-b", "mac=00:0c:02:00:00:00")
    sent = number(r"sent \+ resent: (\d+)", printed)
    edges = np.concatenate((np.arange(0, 200, 0.2), np.arange(200, 1000, 5)))
    queue = int(Path("/proc/sys/net/core/rmem_default").read_text("ascii")) / REQUEST_BYTES
    course = simulate(edges, flow(clients, 0, 0, edges), steady(0, edges), Server(capacity, queue), timers())
    assert sent == pytest.approx(course.sent.sum(), rel=0.4)
