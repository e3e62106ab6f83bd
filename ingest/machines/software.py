"""Facts of the software: operating system, kernel, packages, and versions printed by programs."""

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from dropline.ingest.machines.facts import (
    DECLARED,
    SOURCES,
    Facts,
    Parser,
    fields,
    known,
    lines,
    require,
    source,
    text,
    word,
)

_UNAME: Final = re.compile(r"(?P<system>[A-Za-z]+) (?P<name>\S+) (?P<release>[0-9]\S*)(?P<rest> .*)?")
_ARCHITECTURE: Final = re.compile(
    r"(?<= )(x86_64|amd64|i[3-6]86|aarch64|arm64|armv\w+|ppc64(?:le)?|s390x|riscv64)(?= |$)"
)
_TITLE: Final = re.compile(r"(.*?)(?: ([0-9][\w.]*).*)?")  # Debian GNU/Linux 12 (bookworm)
_SECRET: Final = re.compile(r"\S*(?:passw|secret|token|key|credential)\S*=\S*", re.IGNORECASE)
_WORD: Final = r"[a-z][a-z0-9_-]{0,30}"
_MAX_PACKAGES: Final = 10_000
_NAME: Final = r"(?P<name>[A-Za-z0-9][A-Za-z0-9+._-]*)"
# Of dpkg's three characters, the second is `i` for installed packages, the third an error flag (dpkg-query(1)).
_DPKG: Final = re.compile(rf"(?P<status>[uihrp][ncHUFWti][ R]?)\s+{_NAME}(?::[a-z0-9-]+)?\s+(?P<version>\S+)(?:\s.*)?")
_PAIR: Final = re.compile(rf"{_NAME}(?::[a-z0-9-]+)?\t(?P<version>[^\s]*)(?:\t.*)?")
_RPM: Final = re.compile(
    rf"{_NAME}-(?P<version>[^-\s]+-[^-\s]+)\."
    r"(?:noarch|x86_64(?:_v[234])?|i[3-6]86|aarch64|armv7hl|ppc64le|s390x|riscv64|\(none\))"
)
_KEA: Final = re.compile(r"([0-9]+\.[0-9]+\.[0-9]+[-\w]*)(?: \(.*\))?")
# Since 2.6, list items begin with a dash.
_LINKED: Final = re.compile(r"(?:- )?(log4cplus|OpenSSL|Botan) ([0-9][\w.]*).*")
_BACKEND: Final = re.compile(r"(?:- )?(\w+) backend ([0-9.]+)(?:, library ([\w.]+))?")
_PERFDHCP: Final = re.compile(rf"(?:VERSION:\s*)?{_KEA.pattern}")
_DATABASE: Final = re.compile(
    r"(postgres|psql) \(PostgreSQL\) ([0-9]+(?:\.[0-9]+)*\w*)"
    r"|(?:\S*/)?((?:mariadb|mysql)d?)\s+(?:Ver \S+ Distrib|Ver|from)\s+([0-9]+(?:\.[0-9]+)+(?:-MariaDB)?)"
)


@source
def os_release(data: bytes) -> Facts:
    """Return name and version of the operating system; for a rolling release, its build."""
    found = [match for line in lines(data) if (match := re.fullmatch(r"([A-Z][A-Z0-9_]*)=(.*)", line))]
    named: dict[str, str | None] = {}
    for match in found:
        with suppress(ValueError):  # an unclosed quote
            named[match[1]] = word(match[2].strip("\"'"))
            named[match[1]] = word(" ".join(shlex.split(match[2])))
    require(
        {"NAME", "PRETTY_NAME", "ID"} & named.keys(), "the fields of /etc/os-release, among them NAME and VERSION_ID"
    )
    return known(
        os_name=named.get("NAME") or named.get("PRETTY_NAME") or named.get("ID"),
        os_version=named.get("VERSION_ID") or named.get("VERSION") or named.get("BUILD_ID"),
        os_title=named.get("PRETTY_NAME"),
        os_id=named.get("ID"),
    )


@source
def uname(data: bytes) -> Facts:
    """Return name, kernel release and architecture."""
    line = "".join(lines(data)[:1])
    match = require(_UNAME.fullmatch(line), "the line of `uname -a`: system, name, kernel release, ...")
    architectures = _ARCHITECTURE.findall(match["rest"] or "")
    return known(
        name=word(match["name"]),
        kernel=word(match["release"]),
        architecture=architectures[-1] if architectures else None,
        system=match["system"],
    )


@source
def hostnamectl(data: bytes) -> Facts:
    """Return name, operating system, kernel, architecture, virtualisation and firmware."""
    named = fields(text(data))
    system = require(_TITLE.fullmatch(named.get("Operating System", "")), "the fields that `hostnamectl` prints")
    architecture = named.get("Architecture", "")
    return known(
        name=word(named.get("Static hostname")),
        os_name=word(system[1]),
        os_version=word(system[2]),
        kernel=word(named.get("Kernel", "").removeprefix("Linux ")),
        architecture=word({"x86-64": "x86_64", "arm64": "aarch64"}.get(architecture, architecture)),
        virtualisation=word(named.get("Virtualization")),
        bios_version=word(named.get("Firmware Version")),
    )


@source
def packages(data: bytes) -> Facts:
    r"""Return {"packages": {name: version}} of installed packages, with names without architecture.

    The list is that of `dpkg-query -W` (name, version), the same with `${db:Status-Abbrev}` in front, `dpkg -l`,
    `rpm -qa`, or `rpm -qa --qf '%{NAME}\t%{VERSION}-%{RELEASE}\n'`. Packages that are not installed are skipped.
    """
    return known(packages=dict(sorted(dict(_installed(lines(data))).items())[:_MAX_PACKAGES]))


def _installed(rows: list[str]) -> Iterator[tuple[str, str]]:
    understood = 0
    for row in rows:
        if match := _DPKG.fullmatch(row) or _RPM.fullmatch(row) or _PAIR.fullmatch(f"{row}\t"):
            understood += 1
            status, version = match.groupdict().get("status"), word(match["version"])
            if version and (status is None or status[1] == "i"):
                yield match["name"], version
    require(understood or not rows, "a list of packages as of `dpkg-query -W`, `dpkg -l` or `rpm -qa`")


@source
def kea_version(data: bytes) -> Facts:
    """Return version, libraries and backends of Kea."""
    rows = lines(data)
    version = require(_KEA.fullmatch("".join(rows[:1])), "the output of `kea-dhcp4 -V`, which begins with a version")
    backends = [match for row in rows if (match := _BACKEND.fullmatch(row))]
    return known(
        packages={"kea": version[1]},
        linked_with={match[1]: match[2] for row in rows if (match := _LINKED.fullmatch(row))},
        backends={m[1]: f"{m[2]}, library {m[3]}" if m[3] else m[2] for m in backends},
    )


@source
def perfdhcp_version(data: bytes) -> Facts:
    """Return the version of perfdhcp: `VERSION: 2.2.0`, from 2.6 on the bare number."""
    version = _PERFDHCP.fullmatch("".join(lines(data)[:1]))
    return known(packages={"perfdhcp": require(version, "the output of `perfdhcp -v`: a version")[1]})


@source
def database_version(data: bytes) -> Facts:
    """Return the version of PostgreSQL, MariaDB or MySQL."""
    version = require(_DATABASE.match(text(data)), "the version line of postgres, mariadbd or mysqld")
    return known(packages={version[1] or version[3]: version[2] or version[4]})


@source
def governor(data: bytes) -> Facts:
    """Return the distinct frequency governors, from one line per processor."""
    found = {line for line in lines(data) if re.fullmatch(_WORD, line)}
    require(found, "the name of a frequency governor, e.g. performance")
    return known(governors=sorted(found))


@source
def huge_pages(data: bytes) -> Facts:
    """Return the choice in brackets in `always [madvise] never`."""
    chosen = re.search(rb"\[([a-z]{1,20})\]", data)
    choice = require(chosen, "transparent_hugepage/enabled, e.g. `always [madvise] never`")
    return known(transparent_huge_pages=choice[1].decode())


@source
def command_line(data: bytes) -> Facts:
    """Return the kernel's command line without anything that looks like a secret."""
    rows = lines(data)
    return known(kernel_command_line=word(_SECRET.sub("***", rows[0]), 2000) if rows else None)


def _pairs(line: str, fact: str, expected: str) -> Parser:
    def parse(data: bytes) -> Facts:
        found = [match for each in lines(data) if (match := re.fullmatch(line, each, re.ASCII))]
        require(found, expected)
        return known(**{fact: {match[1][:300]: " ".join(match[2].split()) for match in found}})

    return parse


def _one(form: str, fact: str, expected: str) -> Parser:
    def parse(data: bytes) -> Facts:
        rows = lines(data)
        found = repr(rows[0][:80] if rows else "nothing")
        require(len(rows) == 1 and re.fullmatch(form, rows[0]), f"{expected}, found {found}")
        return {fact: rows[0]}

    return parse


for _simple, _parser in (("pairs", _pairs), ("one", _one)):
    for _kind, _declared in DECLARED.items():
        if _simple in _declared:
            SOURCES[_kind] = SOURCES[_kind]._replace(
                parse=_parser(_declared[_simple], _declared["fact"], _declared["expected"])
            )
