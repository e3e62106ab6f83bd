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


@pytest.fixture(autouse=True)
def good(monkeypatch):
    monkeypatch.setattr(doctor, "_read", lambda host, path: GOOD[path])


def test_a_good_bench_has_no_findings():
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
def test_each_flaw_of_a_plan_is_told(flawed, found):
    assert [each.what for each in doctor.examine(flawed, Path())] == [found]


@pytest.mark.parametrize(("prefix", "shared"), [("taskset -c 1", 1), ("ip netns exec a taskset -c 1", 0)])
def test_what_dnsblast_cannot_know_is_told(monkeypatch, prefix, shared):
    monkeypatch.setattr("shutil.which", lambda program, path: program)
    here = {"tool": "dnsblast", "host": None, "arguments": [], "prefix": prefix}
    told = [each.what for each in doctor.examine(plan(generator=here, server={"host": None}), Path())]
    assert told == [
        "Generator and server share a machine",
        "dnsblast sends each second's queries at once",
        "dnsblast does not read the answers",
        *["dnsblast shares its UDP counters with the server"] * shared,
    ]


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"a": "launch=lmdb\ncache-ttl=20", "b": "launch=lmdb\ncache-ttl=0"}, ["a and b have the same `defaults`"]),
        ({"a": "launch=lmdb\ncache-ttl=20", "b": "launch=gmysql\ncache-ttl=20"}, []),
    ],
)
def test_configurations_that_a_build_cannot_tell_apart_are_told(tmp_path, files, found):
    for name, text in files.items():
        (tmp_path / f"{name}.conf").write_text(text)
    asked = plan().model_dump(by_alias=True)
    asked["configurations"] = {name: {"files": [f"{name}.conf"]} for name in files}
    assert [each.what for each in doctor.examine(Plan.model_validate(asked), tmp_path)] == found


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
