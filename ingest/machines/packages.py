r"""Installed packages, from any of the common list formats.

`dpkg-query -W` (name, version), the same with `${db:Status-Abbrev}` in front, `dpkg -l`,
`rpm -qa`, and `rpm -qa --qf '%{NAME}\t%{VERSION}-%{RELEASE}\n'`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dropline.ingest.machines.facts import Facts, known, lines, require, word

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_PACKAGES: Final = 10_000

_NAME: Final = r"(?P<name>[A-Za-z0-9][A-Za-z0-9+._-]*)"
# dpkg's third character is an error flag; only the second, `i`, means installed (dpkg-query(1)).
_DPKG: Final = re.compile(rf"(?P<status>[uihrp][ncHUFWti][ R]?)\s+{_NAME}(?::[a-z0-9-]+)?\s+(?P<version>\S+)(?:\s.*)?")
_PAIR: Final = re.compile(rf"{_NAME}(?::[a-z0-9-]+)?\t(?P<version>[^\s]*)(?:\t.*)?")
_RPM: Final = re.compile(
    rf"{_NAME}-(?P<version>[^-\s]+-[^-\s]+)\."
    r"(?:noarch|x86_64(?:_v[234])?|i[3-6]86|aarch64|armv7hl|ppc64le|s390x|riscv64|\(none\))"
)


def parse(data: bytes) -> Facts:
    """Return {"packages": {name: version}} of installed packages, names without architecture.

    Packages that are listed but not installed are skipped.
    """
    found = dict(_installed(lines(data)))
    return known(packages=dict(sorted(found.items())[:_MAX_PACKAGES]))


def _installed(rows: list[str]) -> Iterator[tuple[str, str]]:
    understood = 0
    for row in rows:
        match = _DPKG.fullmatch(row) or _RPM.fullmatch(row) or _PAIR.fullmatch(f"{row}\t")
        if match is None:
            continue
        understood += 1
        status = match.groupdict().get("status")
        version = word(match["version"])
        if version and (status is None or status[1] == "i"):
            yield match["name"], version
    require(understood or not rows, "a list of packages as of `dpkg-query -W`, `dpkg -l` or `rpm -qa`")
