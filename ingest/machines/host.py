"""Machine from all files of its folder: precedence of sources, and identity."""

import hashlib
import json
import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from dropline import beside
from dropline.ingest.formats import Reject, Row
from dropline.ingest.machines.facts import SOURCES, TRANSCRIPT, FactError, Facts, outputs, recognise, stem

PRECEDENCE: Final[dict[str, list[str]]] = beside.words(__file__)
_OWN_COLUMNS: Final = frozenset({*PRECEDENCE, "packages"})
# The clock changes with the load, and the usable memory slightly with every boot.
_NOT_IDENTIFYING: Final = frozenset({"cpu_mhz", "memory_bytes"})
_OF_PROCESSOR: Final = ("cpuinfo", "lscpu")
_TUNING: Final = ("transparent_huge_pages", "clock_source", "kernel_command_line", "bios_version", "microcode")
_RANDOM: Final = "net.core.netdev_rss_key"  # new at every boot
_FAILED: Final = re.compile(
    rb"not found|no such file|permission denied|not permitted|not supported|no data available"
    rb"|must be (?:super-user|root)|no such device|cannot (?:get|open|read)|can't (?:open|read)",
    re.IGNORECASE,
)
_MAX_MESSAGE_BYTES: Final = 400
_MAX_FACTS_CHARACTERS: Final = 65_536

# (kind, file, facts) of all readable files, in the order of their names
_Found = list[tuple[str, str, Facts]]


def host(files: Mapping[str, bytes]) -> tuple[Row, list[Reject]]:
    """Return the row of schema.HOSTS for the files of one folder, and the rejects.

    The row lacks batch, campaign and source_path. Its `host_id` is derived from hardware and software; `packages` and
    `tuning` are lists of (name, value); `facts` is JSON by file. Unknown, empty and failed files are skipped, as tools
    are often missing. A Reject's reason begins with the file's name and a colon.
    """
    found: _Found = []
    rejects: list[Reject] = []
    for name in sorted(files):
        kind = recognise(name, files[name])
        for own_kind, own_name, data in outputs(files[name]) if kind == TRANSCRIPT else [(kind, name, files[name])]:
            source, content = SOURCES.get(own_kind or ""), data.strip()
            is_failed = len(content) <= _MAX_MESSAGE_BYTES and _FAILED.search(content)  # its command was missing
            if source is None or source.parse is None or is_failed or not content:
                continue
            try:
                found.append((source.kind, own_name, source.parse(data)))
            except (FactError, RecursionError) as error:
                hint = f"collect it again with `{source.command}`, or remove the file"
                rejects.append(Reject(1, f"{name}: {error}", hint))
    for own_kind in _OF_PROCESSOR:
        models = {name: facts["cpu_model"] for kind, name, facts in found if kind == own_kind and "cpu_model" in facts}
        if len({*models.values()}) > 1 < len({*map(stem, models)}):  # alpha-lscpu.txt beside beta-lscpu.txt
            reason, hint = "of one of several machines here", "keep the facts of each machine in a folder of its own"
            rejects += [Reject(1, f"{name}: {reason}: {model}", hint) for name, model in models.items()]
            found = [each for each in found if each[1] not in models]
    row: Row = {column: _first(found, column, kinds) for column, kinds in PRECEDENCE.items()}
    row["disks"] = ", ".join(row["disks"])[:1000] if row["disks"] else None
    row |= _nic(found)
    row["packages"] = sorted(ChainMap(*(facts.get("packages", {}) for _, _, facts in found)).items()) or None
    same: Row = {column: value for column, value in row.items() if column not in _NOT_IDENTIFYING}
    same["memory_gib"] = round(row["memory_bytes"] / 2**30) if row["memory_bytes"] else None
    if tuning := dict(ChainMap(*(dict(_tuning(facts)) for _, _, facts in found))):
        row["tuning"] = same["tuning"] = sorted(tuning.items())
    row["host_id"] = hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()[:16]
    row["facts"] = _rest(found)
    return row, rejects


def _tuning(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield firmware and settings that may affect the speed, with names: limits, and enabled mitigations."""
    yield from ((name, facts[name]) for name in _TUNING if name in facts)
    if governors := facts.get("governors"):
        yield "governor", ", ".join(governors)
    if switch := re.search(r"(?:^| )mitigations=(\S+)", facts.get("kernel_command_line", "")):
        yield "mitigations", switch[1]
    for name, state in facts.get("vulnerabilities", {}).items():
        yield f"mitigation.{name.lower().replace(' ', '_')}", re.split("[:;]", state)[0]
    for name, limit in facts.get("cgroup_limits", {}).items():
        if not limit.startswith("max"):
            yield f"cgroup.{name}", limit
    for name, value in facts.get("sysctl", {}).items():
        if name.startswith("net.core.") and name != _RANDOM:
            yield f"sysctl.{name}", value


def _first(found: _Found, column: str, kinds: Iterable[str]) -> Any:
    candidates = (facts for kind in kinds for own_kind, _, facts in found if own_kind == kind)
    return next((facts[column] for facts in candidates if column in facts), None)


def _nic(found: _Found) -> Row:
    """Return the main network interface: the fastest on a bus with a link."""
    nics: dict[str, Facts] = {}
    for kind, name, facts in found:
        if kind == "lshw":
            for interface, nic in facts.get("nics", {}).items():
                nics[interface] = nic | nics.get(interface, {})
        elif kind == "ethtool":
            label = re.sub(r"^ethtool(?:-[a-z](?=-))?-?", "", stem(name))
            nics[label] = nics.get(label, {}) | facts
    every = [nic for _, nic in sorted(nics.items())]
    # `ethtool eth0` alone does not show the bus, but the drivers of virtual interfaces are known
    real = [nic for nic in every if nic.get("bus")] or [nic for nic in every if "driver" not in nic]
    rank = [(nic.get("link") is True, nic.get("speed_mbps", 0)) for nic in real]
    best = real[rank.index(max(rank))] if real else {}
    controllers = _first(found, "network_controllers", ("lspci",)) or [None]
    return {
        "nic_model": best.get("model") or controllers[0],
        "nic_driver": best.get("driver"),
        "nic_speed_mbps": best.get("speed_mbps"),
    }


def _rest(found: _Found) -> str:
    rest = ((name, {key: each for key, each in facts.items() if key not in _OWN_COLUMNS}) for _, name, facts in found)
    parts = ((stem(name), json.dumps(facts, sort_keys=True)) for name, facts in rest if facts)
    kept, size = {}, 0
    for name, part in sorted(parts, key=lambda part: (len(part[1]), part[0])):
        size += len(part) + len(name) + 10
        if size > _MAX_FACTS_CHARACTERS:
            break
        kept[name] = json.loads(part)
    return json.dumps(kept, sort_keys=True)
