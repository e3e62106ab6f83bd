"""The kinds of machine facts: how each is recognised, its parser, and the command that collects it.

Content takes precedence over name: a name decides only for ambiguous content, such as one word in `hostname.txt`, or an
empty file.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from dropline.ingest.machines import (
    cpuinfo,
    dmidecode,
    ethtool,
    ip_link,
    lsblk,
    lscpu,
    lshw,
    lspci,
    meminfo,
    oneliners,
    os_release,
    packages,
    versions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dropline.ingest.machines.facts import Facts

MESSAGES: Final = "messages"  # a command's stderr
_HEAD_BYTES: Final = 65_536


class Source(NamedTuple):
    """One kind of file with machine facts."""

    kind: str
    content: re.Pattern[bytes] | None  # of its beginning, without BOM and blank space
    name: re.Pattern[str]  # of its file name, without extension
    parse: Callable[[bytes], Facts] | None  # None: stored unparsed, for people to read
    command: str


def _source(
    kind: str, content: bytes | None, name: str, parse: Callable[[bytes], Facts] | None, command: str
) -> Source:
    pattern = re.compile(content, re.MULTILINE) if content else None
    return Source(kind, pattern, re.compile(name, re.IGNORECASE), parse, command)


_DPKG_LINE: Final = rb"[ih][iF][ R]?\s+[a-z0-9][a-z0-9+.:-]+\s+[0-9]"
_RPM_LINE: Final = rb"[\w+.-]+-[^-\s]+-[^-\s]+\.(?:noarch|x86_64|aarch64|i[3-6]86)\r?$"
_SOURCES: Final = (
    _source("lscpu", rb'\{\s*"lscpu"|(?:.*\n){0,2}?Architecture:\s', "lscpu", lscpu.parse, "lscpu -J"),
    _source("lscpu_extended", rb'\{\s*"cpus"', "lscpu-e", None, "lscpu -e -J"),
    _source("lscpu_caches", rb'\{\s*"caches"', "lscpu-C", None, "lscpu -C -J"),
    _source("lshw", rb'\[?\s*\{\s*"id"\s*:\s*"[^"]*",\s*"class"', "lshw", lshw.parse, "lshw -json"),
    _source("lshw_short", rb"H/W path\s+Device", "lshw-short", None, "lshw -short"),
    _source("dmidecode", rb"# dmidecode [0-9]", "dmidecode.*", dmidecode.parse, "dmidecode"),
    _source("meminfo", rb"MemTotal:\s+[0-9]", "meminfo", meminfo.parse, "cat /proc/meminfo"),
    _source("cpuinfo", rb"processor\s*:\s*[0-9]", "cpuinfo", cpuinfo.parse, "cat /proc/cpuinfo"),
    _source("lsblk", rb'\{\s*"blockdevices"', "lsblk.*", lsblk.parse, "lsblk -J -b"),
    _source(
        "ip_link", rb'\[\s*(?:\{\s*\}\s*,\s*)*\{\s*"ifindex"', "ip-(?:link|addr).*", ip_link.parse, "ip -j -d link"
    ),
    _source(
        "ethtool",
        rb"(?:Settings|Features) for \S+:|driver: .*\r?\nversion:",
        "ethtool.*",
        ethtool.parse,
        "ethtool IFACE",
    ),
    _source(
        "os_release",
        rb"(?=(?:.*\n){0,40}?(?:PRETTY_)?NAME=)(?=(?:.*\n){0,40}?ID=)",
        "(?:etc-)?os-release",
        os_release.parse,
        "cat /etc/os-release",
    ),
    _source(
        "uname",
        rb"(?:Linux|FreeBSD|NetBSD|OpenBSD|Darwin|SunOS) \S+ [0-9]+\.[0-9]\S* ",
        "uname(?:-a)?",
        oneliners.parse_uname,
        "uname -a",
    ),
    _source(
        "packages",
        rb"Desired=Unknown/|" + _DPKG_LINE + rb"|" + _RPM_LINE,
        "(?:dpkg|rpm|packages).*",
        packages.parse,
        "dpkg-query -W` or `rpm -qa",
    ),
    _source(
        "kea_version",
        rb"[0-9]+\.[0-9]+\.[0-9]+.*\n(?:.*\n)?linked with:",
        "kea-(?:dhcp[46]|version).*-V|kea-version",
        versions.parse_kea,
        "kea-dhcp4 -V",
    ),
    _source("kea_report", rb"Kea source configure results", "kea-.*-W", None, "kea-dhcp4 -W"),
    _source(
        "perfdhcp_version", rb"VERSION: [0-9]+\.[0-9]", "perfdhcp-(?:v|version)", versions.parse_perfdhcp, "perfdhcp -v"
    ),
    _source(
        "database_version",
        rb"(?:postgres|psql) \(PostgreSQL\) |(?:\S*/)?(?:mariadb|mysql)d?\s+(?:Ver|from) ",
        "(?:postgres|psql|mariadbd?|mysqld?)-(?:v|version)",
        versions.parse_database,
        "postgres --version` or `mariadbd --version",
    ),
    _source("lspci", rb"(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] \S", "lspci", lspci.parse, "lspci"),
    _source(
        "cgroup",
        rb"/sys/fs/cgroup/(?:\S+/)?(?:cpu|memory)\.max:",
        "cgroup.*",
        oneliners.parse_cgroup,
        "grep . /sys/fs/cgroup/*/cpu.max /sys/fs/cgroup/*/memory.max",
    ),
    _source(
        "vulnerabilities",
        rb"/sys/devices/system/cpu/vulnerabilities/",
        "vulnerabilities",
        oneliners.parse_vulnerabilities,
        "grep . /sys/devices/system/cpu/vulnerabilities/*",
    ),
    _source(
        "sysctl", rb"(?:net|kernel|vm|fs|dev)\.[a-z0-9_.]+ = ", "sysctl.*", oneliners.parse_sysctl, "sysctl net.core"
    ),
    _source("index", rb"\S+ rc=-?[0-9]+ [0-9]+ bytes: ", "index", None, "collect.sh"),
    _source("hostname", None, "hostname", oneliners.parse_hostname, "hostname"),
    _source("virtualisation", None, "(?:systemd-)?detect-virt", oneliners.parse_virtualisation, "systemd-detect-virt"),
    _source(
        "clock_source",
        None,
        "clocksource",
        oneliners.parse_clock_source,
        "cat /sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    _source(
        "governor",
        None,
        "(?:scaling_)?governors?",
        oneliners.parse_governor,
        "cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    ),
    _source(
        "huge_pages",
        None,
        "transparent_hugepage",
        oneliners.parse_huge_pages,
        "cat /sys/kernel/mm/transparent_hugepage/enabled",
    ),
    _source("command_line", None, "cmdline", oneliners.parse_command_line, "cat /proc/cmdline"),
    _source("note", None, "capture_time|uptime|mounts|numa|ldd-.*|topology-.*", None, "collect.sh"),
)
SOURCES: Final[dict[str, Source]] = {source.kind: source for source in _SOURCES}

_NAMED: Final = b"NAME="  # in every os-release; a cheap pre-check for the slow line-by-line pattern


def _any_of(sources: Iterable[Source]) -> re.Pattern[bytes]:
    """Return one pattern for all contents; its last group is the kind of the first matching source."""
    contents = ((source.kind.encode(), source.content.pattern) for source in sources if source.content)
    return re.compile(b"|".join(b"(?P<%b>%b)" % each for each in contents), re.MULTILINE)


_CONTENTS: Final = _any_of(_SOURCES)
_CONTENTS_UNNAMED: Final = _any_of(source for source in _SOURCES if source.kind != "os_release")


def stem(name: str) -> str:
    """Return the name of a file without folders and extension: `ip-link` of `a/ip-link.json`."""
    return re.sub(r"\.(?:txt|json|out|log)$", "", re.split(r"[/\\]", name)[-1], flags=re.IGNORECASE)


def recognise(name: str, data: bytes) -> str | None:
    """Return the kind of machine facts in a file, by its content, else by its name.

    `data` is the whole file or its beginning. Names decide for content that any file could have: call this for files of
    a folder of machine facts, or trust only kinds that are unambiguous.
    """
    if name.endswith(".err"):
        return MESSAGES if _by_name(name.removesuffix(".err")) else None
    head = data[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip()
    found = (_CONTENTS if _NAMED in head else _CONTENTS_UNNAMED).match(head)
    return found.lastgroup if found else _by_name(name)


@lru_cache(maxsize=4096)  # the repetitions of a ramp have the same names
def _by_name(name: str) -> str | None:
    own = stem(name)
    return next((source.kind for source in _SOURCES if source.name.fullmatch(own)), None)
