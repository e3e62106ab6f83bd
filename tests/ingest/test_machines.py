"""Machine facts: every source on its own, one folder as one host, and the collector."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dropline.ingest import machines
from dropline.ingest.machines import SOURCES, FactError
from dropline.ingest.schema import HOSTS

HARDWARE = Path(__file__).parent.parent / "captures" / "perfdhcp" / "hardware"
COLLECT = Path(machines.__file__).parent / "collect.sh"
CAPTURED = {path.name: path.read_bytes() for path in sorted(HARDWARE.iterdir())}
MADE = Path(__file__).parent / "made"
LSCPU = (MADE / "lscpu/lscpu-counts-cores-over-both-sockets-2.json").read_bytes()  # 2 x 20 cores with hyper-threading
LSHW = (MADE / "lshw/lshw-of-every-age-is-read-2.json").read_bytes()
DMIDECODE = (MADE / "dmidecode/dmidecode-adds-up-modules-and-populated-sockets.txt").read_bytes()
KEA_3 = (MADE / "kea_version/kea-tells-version-libraries-and-backends-in-both-forms.txt").read_bytes()


def parsed(kind, data):
    parse = SOURCES[kind].parse
    assert parse
    return parse(data)


def test_identity_is_that_of_the_machine_not_of_the_moment():
    original = machines.host(CAPTURED)[0]["host_id"]
    later = CAPTURED | {
        "uptime.txt": b" 12:00:00 up 99 days,  1 user,  load average: 0.00, 0.00, 0.00\n",
        "capture_time.txt": b"2027-01-01T00:00:00Z\n",
        "cpuinfo.txt": CAPTURED["cpuinfo.txt"].replace(b"2299.998", b"800.000"),
        "meminfo.txt": CAPTURED["meminfo.txt"].replace(b"24684092", b"24684100"),
    }
    assert sum(later[name] != CAPTURED[name] for name in later) == 4
    assert machines.host(later)[0]["host_id"] == original
    bare = {"meminfo.txt", "uname.txt"}
    assert len({machines.host({name: of[name] for name in bare})[0]["host_id"] for of in (later, CAPTURED)}) == 1
    for change in (
        {"os-release.txt": CAPTURED["os-release.txt"].replace(b'"12"', b'"13"')},
        {"kea-dhcp4-V.txt": KEA_3},
        {"hostname.txt": b"vm2\n"},
        {"sysctl-net.txt": b"net.core.rmem_max = 1\n"},
        {"governor.txt": b"powersave\n"},
        {"cgroup.txt": b"/sys/fs/cgroup/cpu.max:200000 100000\n"},
        {"cmdline.txt": b"ro mitigations=off\n"},
    ):
        assert machines.host(CAPTURED | change)[0]["host_id"] != original


def test_precedence_is_settled_where_sources_disagree():
    files = {
        "lscpu.json": LSCPU,
        "lshw.json": LSHW,
        "cpuinfo.txt": CAPTURED["cpuinfo.txt"],
        "meminfo.txt": CAPTURED["meminfo.txt"],
        "dmidecode.txt": DMIDECODE,
        "uname.txt": CAPTURED["uname.txt"],
    }
    row, _ = machines.host(files)
    assert (row["cpu_cores"], row["cpu_threads"], row["cpu_mhz"]) == (40, 80, 2400.0)
    assert row["memory_bytes"] == 48 * 2**30
    assert row["name"] == "vm"
    del files["lscpu.json"], files["dmidecode.txt"], files["uname.txt"]
    row, _ = machines.host(files)
    assert (row["cpu_cores"], row["cpu_model"], row["cpu_mhz"]) == (40, "Xeon", 4000.0)
    assert (row["memory_bytes"], row["name"]) == (192 * 2**30, "srv1")
    del files["lshw.json"]
    row, _ = machines.host(files)
    assert (row["cpu_cores"], row["memory_bytes"]) == (2, 24_684_092 * 1024)
    assert set(machines.PRECEDENCE) < set(HOSTS.names)
    assert {kind for kinds in machines.PRECEDENCE.values() for kind in kinds} < set(SOURCES)


def test_fastest_linked_interface_on_a_bus_is_the_one_shown():
    row, _ = machines.host({"lshw.json": LSHW})
    assert row["nic_model"] == "Intel Corporation Ethernet Controller X710 for 10GbE SFP+"
    assert (row["nic_driver"], row["nic_speed_mbps"]) == ("i40e", 10_000.0)
    assert row["disks"] == "sda 447.13 GiB (PERC H740P)"
    assert machines.host({"ethtool.txt": b"Settings for eth0:\n\tSpeed: 10000Mb/s\n"})[0]["nic_speed_mbps"] == 10_000.0


def test_ethtool_and_lspci_do_without_lshw():
    settings_of = b"Settings for %s:\n\tSpeed: %sMb/s\n\tDuplex: Full\n\tLink detected: yes\n"
    driver = b"driver: %s\nversion: 1\nbus-info: %s\n"
    row, rejects = machines.host(
        {
            "ethtool-eno1.txt": settings_of % (b"eno1", b"25000"),
            "ethtool-i-eno1.txt": driver % (b"ice", b"0000:3b:00.0"),
            "ethtool-veth-c0.txt": settings_of % (b"c0", b"100000"),
            "ethtool-i-veth-c0.txt": driver % (b"veth", b""),
            "lspci.txt": b"3b:00.0 Ethernet controller: Intel Corporation E810-C (rev 02)\n",
        }
    )
    assert rejects == []
    assert row["nic_model"] == "Intel Corporation E810-C"
    assert (row["nic_driver"], row["nic_speed_mbps"]) == ("ice", 25_000.0)


def test_failed_commands_are_absent_facts_and_no_faults():
    row, rejects = machines.host(
        {
            "lscpu.json": b"sh: 1: lscpu: not found\n",
            "governor.txt": b"",
            "dmidecode.txt": b"/dev/mem: Permission denied\n",
            "ethtool-eth0.txt": b"No data available\n",
            "hostname.txt": b"srv1\n",
        }
    )
    assert rejects == []
    assert (row["name"], row["cpu_model"]) == ("srv1", None)


def test_facts_of_two_machines_in_one_folder_are_told_and_tell_nothing():
    lscpu = b"Architecture: x86_64\nModel name: %b\n"
    row, rejects = machines.host({"a-lscpu.txt": lscpu % b"A", "b-lscpu.txt": lscpu % b"B", "hostname.txt": b"srv1\n"})
    assert [reject.reason.partition(":")[0] for reject in rejects] == ["a-lscpu.txt", "b-lscpu.txt"]
    assert (row["name"], row["cpu_model"]) == ("srv1", None)


@pytest.mark.parametrize("prompt", ["$ ", "root@vm:~# ", "[root@vm ~]# ", "+ ", "===== ", "Mon Nov 20\n# "])
def test_a_transcript_is_read_like_a_file_for_each_command(prompt):
    commands = {"uname.txt": "uname -a", "os-release.txt": "cat /etc/os-release", "lscpu.txt": "sudo lscpu"}
    commands |= {"governor.txt": "cat /sys/devices/x/scaling_governor", "hostname.txt": "hostname -s"}
    files = {name: CAPTURED[name] for name in commands} | {"governor.txt": b"performance\n"}
    free = f"{prompt.splitlines()[-1]}free -k\nMem: 2 1\n"
    shell = "".join(f"{prompt}{command}\n{files[name].decode()}{free}" for name, command in commands.items())
    assert machines.host({"sysinfo.txt": shell.encode()})[0]["host_id"] == machines.host(files)[0]["host_id"]


def test_unreadable_files_are_rejected_by_name_with_a_way_out():
    damaged = CAPTURED | {
        "lshw.json": CAPTURED["lshw.json"][:5000],
        "lscpu.json": b'{"lscpu": []}',
        "meminfo.txt": b"MemTotal: many kB\n",
    }
    row, rejects = machines.host(damaged)
    assert [reject.reason.partition(":")[0] for reject in rejects] == ["lscpu.json", "lshw.json", "meminfo.txt"]
    assert [reject.hint.split("`")[1] for reject in rejects] == ["LC_ALL=C lscpu -J", "lshw -json", "cat /proc/meminfo"]
    assert row["cpu_cores"] == 2  # lscpu.txt still says it
    assert row["memory_bytes"] is None


@pytest.mark.parametrize("kind", [kind for kind, source in SOURCES.items() if source.parse])
@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b'{"id":"a","class":"b","children":[' * 2000,
        b'{"lscpu": ' + b"9" * 5000 + b"}",
        b"\x00\x01\x1b[31m\xff\xfe" * 100,
        b"a.a/" * 50_000 + b"!",
        b"a-" * 50_000,
        b"ii " * 50_000,
        b"Handle 0x1,\nMemory Device\n" + b"\t \n" * 20_000,
        b"password" * 20_000,
    ],
    ids=["deep", "deep objects", "huge number", "binary", "dots", "dashes", "ii", "tabs", "word"],
)
def test_hostile_files_are_refused_or_passed_over_in_no_time(kind, data):
    start = time.process_time()
    try:
        json.dumps(parsed(kind, data))
    except FactError as error:
        assert "expected" in str(error)
    assert time.process_time() - start < 5


def test_size_of_the_rest_is_bounded():
    many = {f"ip-link-{n}.json": CAPTURED["ip-link.json"] for n in range(200)}
    facts = machines.host(CAPTURED | many)[0]["facts"]
    assert len(facts) < 70_000
    assert json.loads(facts)["clocksource"] == {"clock_source": "tsc"}


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and /sys")


def collect(*arguments, path=os.environ["PATH"]):
    command = ["/bin/sh", str(COLLECT), *arguments]
    return subprocess.run(command, env={"PATH": path}, capture_output=True, text=True, timeout=120, check=False)


def folder_files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@linux_only
def test_collector_writes_what_the_reader_reads(tmp_path):
    folder = tmp_path / "a machine"
    done = collect(str(folder))
    assert done.returncode == 0, done.stderr
    files = folder_files(folder)
    assert [name for name, data in files.items() if machines.recognise(name, data) is None] == []
    row, rejects = machines.host(files)
    assert rejects == []
    assert row["name"] == os.uname().nodename
    assert row["kernel"] == os.uname().release
    assert min(row["cpu_threads"], row["memory_bytes"]) > 0
    for line in files["index.txt"].decode().splitlines():
        name, code, size, _ = line.split(" ", 3)
        assert code.startswith("rc=")
        assert len(files[name]) == int(size)
    assert "dropline ingest" in done.stdout


@linux_only
def test_collector_needs_nothing_but_a_shell_and_hides_serial_numbers(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("sh", "mkdir", "mv", "rm", "cat", "sed", "wc", "uname", "grep", "ls", "tail"):
        found = shutil.which(tool)
        assert found, tool
        (tools / tool).symlink_to(found)
    fake = tools / "dmidecode"
    fake.write_text("#!/bin/sh\nprintf '# dmidecode 3.4\\n\\tSerial Number: S3CRET\\n'\n")
    fake.chmod(0o755)
    folder = tmp_path / "facts"
    done = collect(str(folder), path=str(tools))
    assert done.returncode == 0, done.stderr
    assert "  lscpu.json\n" in done.stdout
    files = folder_files(folder)
    assert files["dmidecode.txt"] == b"# dmidecode 3.4\n"
    assert not any(b"S3CRET" in data for data in files.values())
    row, rejects = machines.host(files)
    assert (rejects, row["memory_bytes"] > 0) == ([], True)  # from /proc


def test_collector_explains_itself_and_refuses_what_it_does_not_know(tmp_path):
    explained = collect("--help")
    assert (explained.returncode, explained.stdout.startswith("usage: sh collect.sh [FOLDER]")) == (0, True)
    for arguments in (["--what"], ["a", "b"]):
        refused = collect(*arguments)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "usage" in refused.stderr
    file = tmp_path / "file"
    file.write_text("")
    refused = collect(str(file))
    assert (refused.returncode, "name another one" in refused.stderr) == (1, True)
