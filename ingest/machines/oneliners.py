"""Facts of one line each."""

from __future__ import annotations

import re
from typing import Final

from dropline.ingest.machines.facts import Facts, known, lines, require, word

_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})")
_WORD: Final = re.compile(r"[a-z][a-z0-9_-]{0,30}")
_UNAME: Final = re.compile(r"(?P<system>[A-Za-z]+) (?P<name>\S+) (?P<release>[0-9]\S*)(?P<rest> .*)?")
_ARCHITECTURE: Final = re.compile(
    r"(?<= )(x86_64|amd64|i[3-6]86|aarch64|arm64|armv\w+|ppc64(?:le)?|s390x|riscv64)(?= |$)"
)
_SECRET: Final = re.compile(r"\S*(?:passw|secret|token|key|credential)\S*=\S*", re.IGNORECASE)
_SETTING: Final = re.compile(r"([a-z]\w*[./][\w.*/-]+)\s*=\s*(.{1,100})")
_LIMIT: Final = re.compile(
    r"(/sys/fs/cgroup(?:/\S+)?/(?:cpu|memory)\.max):((?:max|[0-9]{1,20})(?: [0-9]{1,10})?)", re.ASCII
)
_VULNERABILITY: Final = re.compile(r"(?:\S*/)?(\w+):\s*(.{1,200})")


def parse_hostname(data: bytes) -> Facts:
    """Return the name of the machine, from `hostname` or /etc/hostname."""
    return known(name=_one(data, _NAME, "the name of a host"))


def parse_uname(data: bytes) -> Facts:
    """Return name, kernel release and architecture, from `uname -a`."""
    rows = lines(data)
    match = _UNAME.fullmatch(rows[0]) if rows else None
    match = require(match, "the line of `uname -a`: system, name, kernel release, ...")
    architectures = _ARCHITECTURE.findall(match["rest"] or "")
    return known(
        name=word(match["name"]),
        kernel=word(match["release"]),
        architecture=architectures[-1] if architectures else None,
        system=match["system"],
    )


def parse_virtualisation(data: bytes) -> Facts:
    """Return the output of `systemd-detect-virt`: the innermost layer, `none` on bare metal."""
    return known(virtualisation=_one(data, _WORD, "one word of `systemd-detect-virt`"))


def parse_clock_source(data: bytes) -> Facts:
    """Return the kernel's current clock source."""
    return known(clock_source=_one(data, _WORD, "the name of a clock source"))


def parse_governor(data: bytes) -> Facts:
    """Return the distinct frequency governors, from one line per processor."""
    found = {match[0] for line in lines(data) if (match := _WORD.fullmatch(line))}
    require(found, "the name of a frequency governor, e.g. performance")
    return known(governors=sorted(found))


def parse_huge_pages(data: bytes) -> Facts:
    """Return the choice in brackets in `always [madvise] never`."""
    chosen = re.search(rb"\[([a-z]{1,20})\]", data)
    chosen = require(chosen, "transparent_hugepage/enabled, e.g. `always [madvise] never`")
    return known(transparent_huge_pages=chosen[1].decode())


def parse_command_line(data: bytes) -> Facts:
    """Return the kernel's command line without anything that looks like a secret."""
    rows = lines(data)
    return known(kernel_command_line=word(_SECRET.sub("***", rows[0]), 2000) if rows else None)


def parse_sysctl(data: bytes) -> Facts:
    """Return kernel settings by name, from `sysctl`; a very long list is dropped."""
    found = [match for line in lines(data) if (match := _SETTING.fullmatch(line))]
    require(found, "lines of `sysctl` such as `net.core.rmem_max = 212992`")
    return known(sysctl={match[1][:100]: " ".join(match[2].split()) for match in found})


def parse_cgroup(data: bytes) -> Facts:
    """Return the cgroup limits by file: `cpu.max` in us per period, `memory.max` in bytes, or max."""
    found = [match for line in lines(data) if (match := _LIMIT.fullmatch(line))]
    require(found, "lines such as `/sys/fs/cgroup/system.slice/cpu.max:200000 100000`")
    return known(cgroup_limits={match[1][:300]: match[2] for match in found})


def parse_vulnerabilities(data: bytes) -> Facts:
    """Return the processor's vulnerabilities and mitigations, from `grep . .../vulnerabilities/*`."""
    found = [match for line in lines(data) if (match := _VULNERABILITY.fullmatch(line))]
    require(found, "lines such as `.../cpu/vulnerabilities/mds:Not affected`")
    return known(vulnerabilities={match[1]: match[2] for match in found})


def _one(data: bytes, pattern: re.Pattern[str], what: str) -> str:
    rows = lines(data)
    require(len(rows) == 1 and pattern.fullmatch(rows[0]), f"{what}, found {rows[0][:80] if rows else 'nothing'!r}")
    return rows[0]
