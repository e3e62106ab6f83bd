"""Facts from /etc/os-release (os-release(5))."""

from __future__ import annotations

import re
import shlex

from dropline.ingest.machines.facts import Facts, known, lines, require, word


def parse(data: bytes) -> Facts:
    """Return name and version of the operating system; for a rolling release, its build."""
    fields = {}
    for line in lines(data):
        if match := re.fullmatch(r"([A-Z][A-Z0-9_]*)=(.*)", line):
            fields[match[1]] = _unquoted(match[2])
    require(
        {"NAME", "PRETTY_NAME", "ID"} & fields.keys(), "the fields of /etc/os-release, among them NAME and VERSION_ID"
    )
    versions = (word(fields.get(key)) for key in ("VERSION_ID", "VERSION", "BUILD_ID"))
    names = (word(fields.get(key)) for key in ("NAME", "PRETTY_NAME", "ID"))
    return known(
        os_name=next(filter(None, names), None),
        os_version=next(filter(None, versions), None),
        os_title=word(fields.get("PRETTY_NAME")),
        os_id=word(fields.get("ID")),
    )


def _unquoted(value: str) -> str:
    try:
        return " ".join(shlex.split(value))
    except ValueError:  # an unclosed quote
        return value.strip("\"'")
