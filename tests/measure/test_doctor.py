"""What the doctor finds of a bench, with machines that are told to it."""

import json
from pathlib import Path

import pytest

from dropline.measure import doctor
from dropline.measure.plan import Plan

GOOD = {
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "/proc/loadavg": "0.10 0.2 0.3 1/100 5",
    "/proc/cpuinfo": "processor\t: 0\nprocessor\t: 1\nflags\t: fpu tsc\n",
    "/proc/sys/net/core/rmem_default": "4194304",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
}


def plan(trial_s=10, **more):
    said = {
        "campaign": "lab",
        "generator": {
            "tool": "perfdhcp",
            "target": "10.0.0.1",
            "host": "generator",
            "prefix": "taskset -c 1",
            "arguments": ["-R", "1000"],
        },
        "rates": {"from": 100, "to": 1000},
        "server": {"host": "server", "start": "systemctl restart kea"},
        "configurations": {"single": {}},
    }
    for name, value in more.items():
        said[name] = said[name] | value
    return Plan.model_validate(said | {"trial_s": trial_s})


def test_a_good_bench_has_no_findings(monkeypatch):
    monkeypatch.setattr(doctor, "_read", lambda host, path: GOOD[path])
    assert doctor.examine(plan(), Path()) == []


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n", "CPU governor powersave"),
        ("/proc/loadavg", "1.50 1 1 2/100 5", "load 1.50 on 2 processors"),
        ("/proc/cpuinfo", GOOD["/proc/cpuinfo"].replace("tsc", "hypervisor"), "a virtual machine"),
        ("/proc/sys/net/core/rmem_default", "212992", "socket buffers of 212,992 bytes"),
        ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet", "clock source hpet"),
    ],
)
def test_each_flaw_of_a_machine_is_told_with_its_machine(monkeypatch, path, text, found):
    flawed = GOOD | {path: text}
    monkeypatch.setattr(doctor, "_read", lambda host, path: (flawed if host == "server" else GOOD)[path])
    assert [each.what for each in doctor.examine(plan(), Path())] == [f"server: {found}"]


@pytest.mark.parametrize(
    ("flawed", "found"),
    [
        (plan(generator={"host": "server"}), "Generator and server share a machine"),
        (plan(generator={"prefix": ""}), "Nothing is pinned to processors"),
        (plan(server={"start": None}), "Nothing resets single"),
        (plan(trial_s=2), "Trials last 2 s"),
        (plan(generator={"arguments": []}), "perfdhcp has no -R"),
    ],
)
def test_each_flaw_of_a_plan_is_told(monkeypatch, flawed, found):
    monkeypatch.setattr(doctor, "_read", lambda host, path: GOOD[path])
    assert [each.what for each in doctor.examine(flawed, Path())] == [found]


@pytest.mark.parametrize(
    ("pool", "leases", "stop", "found"),
    [
        ("10.1.0.0/16", "", None, []),
        ("10.1.0.0/24", "", None, ["single: 1,000 clients for 256 addresses"]),
        ("10.1.0.0/16", "head\na\nb\n", None, ["single: 2 leases are left in /leases.csv"]),
        ("10.1.0.0/16", "head\na\nb\n", "rm -f /leases.csv*", []),
    ],
)
def test_a_pool_too_small_and_leases_left_in_it_are_told(monkeypatch, tmp_path, pool, leases, stop, found):
    monkeypatch.setattr(doctor, "_read", lambda host, path: leases if path == "/leases.csv" else GOOD[path])
    kea = {"subnet4": [{"subnet": "10.0.0.0/8", "pools": [{"pool": pool}]}], "lease-database": {"name": "/leases.csv"}}
    (tmp_path / "kea.json").write_text(json.dumps({"Dhcp4": kea}))
    asked = plan(configurations={"single": {"files": ["kea.json"]}}, server={"stop": stop})
    told = [each.what.partition(", and neither")[0] for each in doctor.examine(asked, tmp_path)]
    assert told == found
