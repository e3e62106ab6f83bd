"""Facts from `lsblk -J`, with and without -O and -b (lsblk(8))."""

from __future__ import annotations

import re
from typing import Final

from dropline.ingest.machines.facts import Facts, disk_text, document, entries, known, require, size_bytes, word

_COMMAND: Final = "lsblk -J"
# Devices backed by memory or files.
_NO_DISK: Final = re.compile(r"(?:zram|ram|loop|nbd|fd|sr)[0-9]+")


def parse(data: bytes) -> Facts:
    """Return the whole disks with a size, sorted, as texts like `vda 256 GiB (model)`."""
    found = document(data, _COMMAND)
    require(
        isinstance(found, dict) and isinstance(found.get("blockdevices"), list),
        f"the JSON of `{_COMMAND}`: an object with blockdevices",
    )
    disks = []
    for device in entries(found["blockdevices"]):
        name, size = word(device.get("name")), size_bytes(device.get("size"))
        if device.get("type") == "disk" and name and size and not _NO_DISK.fullmatch(name):
            disks.append(disk_text(name, size, word(device.get("model"))))
    return known(disks=sorted(disks))
