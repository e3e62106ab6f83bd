"""Preflight checks of a test bench for conditions that would distort results."""

import json
import os
import shlex
import shutil
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from dropline.ingest.campaign import FIELDS
from dropline.ingest.servers import kea, recognise
from dropline.measure.bench import SSH, run, text_of
from dropline.measure.plan import Plan

_LIMIT_S: Final = 20
_BUSY: Final = 0.2  # load average per processor
_LARGE_BUFFER: Final = 1 << 20
_SHORT_TRIAL_S: Final = 10
_PINNING: Final = ("taskset", "numactl", "cgexec", "AllowedCPUs", "cpuset")


class Finding(NamedTuple):
    """A problem of the bench, and its effect on the results."""

    what: str
    effect: str


def examine(plan: Plan, beside: Path) -> list[Finding]:
    """Return the problems of a plan, its files in the folder `beside` and its machines, most serious first."""
    findings = [*_of_plan(plan), *_of_configurations(plan, beside), *_of_leases(plan, beside)]
    for host in dict.fromkeys((plan.server.host, plan.generator.host)):
        findings += _of_machine(host)
    return findings


def _of_plan(plan: Plan) -> Iterator[Finding]:
    generator = plan.generator
    if not generator.host and not shutil.which(generator.tool, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"):
        yield Finding(f"{generator.tool} is not installed here", "nothing can be measured")
    if generator.host == plan.server.host:
        yield Finding("Generator and server share a machine", "they take processor time from each other: a lower bound")
    commands = [generator.prefix, *(str(plan.server_of(name).serve or "") for name in plan.configurations)]
    if not any(word in command for command in commands for word in _PINNING):
        yield Finding("Nothing is pinned to processors", "the scheduler moves the server around, so runs differ more")
    for name in plan.configurations:
        server = plan.server_of(name)
        if not (server.reset or server.serve or server.start):
            effect = "leases and caches of earlier trials remain, so later runs differ from the first"
            yield Finding(f"Nothing resets {name}", effect)
    if plan.trial_s < _SHORT_TRIAL_S:
        yield Finding(f"Trials last {plan.trial_s:g} s", "they miss what a server does only sometimes, such as writing")
    if "-R" not in generator.arguments and generator.tool == "perfdhcp":
        yield Finding("perfdhcp has no -R", "it acts as one client: the server renews one lease over and over")
    if generator.tool == "dnsblast":
        yield Finding("dnsblast sends each second's queries at once", "socket buffers too small for them lose the rest")
        yield Finding("dnsblast does not read the answers", "a server that refuses every query seems to be fast")
        if generator.host == plan.server.host and not any("netns" in command for command in commands):
            effect = "answers after its last line are not known and count as lost: a lower bound"
            yield Finding("dnsblast shares its UDP counters with the server", effect)


def _of_configurations(plan: Plan, beside: Path) -> Iterator[Finding]:
    known: dict[str, str] = {}
    for name, configuration in plan.configurations.items():
        set_up = plan.defaults_of(name)
        for data in ((beside / file).read_bytes() for file in configuration.files):
            if server := recognise(data):
                set_up |= {column: value for column, value in server.parse(data).items() if column in FIELDS}
        other = known.setdefault(json.dumps(set_up, sort_keys=True, default=str), name)
        if other != name:
            effect = "a build treats them as one configuration: give each a `scenario`"
            yield Finding(f"{other} and {name} have the same `defaults`", effect)


def _of_leases(plan: Plan, beside: Path) -> Iterator[Finding]:
    clients = next((int(n) for option, n in pairwise(plan.generator.arguments) if option == "-R" and n.isdigit()), 1)
    for name, configuration in plan.configurations.items():
        server = plan.server_of(name)
        emptied = " ".join(filter(None, (plan.set_up, server.stop, server.start, server.reset)))
        for data in ((beside / file).read_bytes() for file in configuration.files):
            if not kea.sniff(data):
                continue
            found = kea.parse(data)
            if found["pool_addresses"] and found["pool_addresses"] < clients:
                effect = "once the pool is full, requests fail that a larger pool would serve"
                yield Finding(f"{name}: {clients:,} clients for {found['pool_addresses']:,.0f} addresses", effect)
            (settings,) = json.loads(found["settings"]).values()
            path = str(settings.get("lease-database", {}).get("name", ""))
            leases = len(_read(server.host, path).splitlines()) - 1 if path and path not in emptied else 0
            if leases > 0:
                what = f"{name}: {leases:,} leases are left in {path}, and neither `stop` nor `reset` removes them"
                yield Finding(
                    what, "the pool is partly full, and clients get their old leases back: unlike at a new site"
                )


def _of_machine(host: str | None) -> Iterator[Finding]:
    read, where = partial(_read, host), host or "This machine"
    governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip()
    if governor not in ("", "performance"):
        effect = "the clock speed follows the load: figures depend on what ran before"
        yield Finding(f"{where}: CPU governor {governor}", effect)
    load, processors = read("/proc/loadavg").partition(" ")[0], read("/proc/cpuinfo").count("processor\t")
    if load and float(load) > _BUSY * max(processors, 1):
        effect = "other work takes time from the server: figures are too low"
        yield Finding(f"{where}: load {load} on {processors} processors", effect)
    size = read("/proc/sys/net/core/rmem_default").strip()
    if size.isdigit() and int(size) < _LARGE_BUFFER:
        effect = "they overflow in short bursts that larger ones would hold"
        yield Finding(f"{where}: socket buffers of {int(size):,} bytes", effect)
    clock = read("/sys/devices/system/clocksource/clocksource0/current_clocksource").strip()
    if clock not in ("", "tsc", "kvm-clock", "arch_sys_counter"):
        yield Finding(f"{where}: clock source {clock}", "reading the time is slow, so the generator cannot pace well")
    if " hypervisor" in read("/proc/cpuinfo"):
        yield Finding(f"{where}: a virtual machine", "neighbours may take processor time, invisibly from here")


def _read(host: str | None, path: str) -> str:
    """Return the text of a file on a machine, empty if it cannot be read."""
    if not host:
        return text_of(Path(path))
    done = run([*SSH, host, f"cat {shlex.quote(path)}"], _LIMIT_S)
    return done.output.decode("utf-8", "replace") if done.exit_code == 0 else ""
