"""Versions printed by the programs of a benchmark."""

from __future__ import annotations

import re
from typing import Final

from dropline.ingest.machines.facts import Facts, known, lines, require, text

_KEA: Final = re.compile(r"([0-9]+\.[0-9]+\.[0-9]+[-\w]*)(?: \(.*\))?")
_LINKED: Final = re.compile(r"(?:- )?(log4cplus|OpenSSL|Botan) ([0-9][\w.]*).*")
_BACKEND: Final = re.compile(r"(?:- )?(\w+) backend ([0-9.]+)(?:, library ([\w.]+))?")
_PERFDHCP: Final = re.compile(r"(?:VERSION:\s*)?([0-9]+\.[0-9]+\.[0-9]+[-\w]*)(?: \(.*\))?")
_POSTGRES: Final = re.compile(r"(postgres|psql) \(PostgreSQL\) ([0-9]+(?:\.[0-9]+)*\w*)")
_MARIADB: Final = re.compile(
    r"(?:\S*/)?((?:mariadb|mysql)d?)\s+(?:Ver \S+ Distrib|Ver|from)\s+"
    r"([0-9]+(?:\.[0-9]+)+(?:-MariaDB)?)"
)


def parse_kea(data: bytes) -> Facts:
    """Parse the output of `kea-dhcp4 -V` or `kea-dhcp6 -V`: version, libraries and backends.

    Since 2.6 list items begin with a dash and the kinds of backends have their own headings.
    """
    rows = lines(data)
    version = _KEA.fullmatch(rows[0]) if rows else None
    version = require(version, "the output of `kea-dhcp4 -V`, which begins with a version")
    linked = [match for row in rows if (match := _LINKED.fullmatch(row))]
    backends = [match for row in rows if (match := _BACKEND.fullmatch(row))]
    return known(
        packages={"kea": version[1]},
        linked_with={match[1]: match[2] for match in linked},
        backends={m[1]: f"{m[2]}, library {m[3]}" if m[3] else m[2] for m in backends},
    )


def parse_perfdhcp(data: bytes) -> Facts:
    """Parse the output of `perfdhcp -v`: `VERSION: 2.2.0`, from 2.6 on the bare number."""
    rows = lines(data)
    version = _PERFDHCP.fullmatch(rows[0]) if rows else None
    version = require(version, "the output of `perfdhcp -v`: a version")
    return known(packages={"perfdhcp": version[1]})


def parse_database(data: bytes) -> Facts:
    """Parse the output of `postgres --version`, `mariadbd --version` or `mysqld --version`."""
    content = text(data)
    version = _POSTGRES.match(content) or _MARIADB.match(content)
    version = require(version, "the version line of postgres, mariadbd or mysqld")
    return known(packages={version[1]: version[2]})
