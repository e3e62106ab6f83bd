"""Facts from `lspci` (lspci(8)): the network controllers."""

from __future__ import annotations

import re
from typing import Final

from dropline.ingest.machines.facts import Facts, known, lines, require, word

_DEVICE: Final = re.compile(
    r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] ([^:]+): (.+?)(?: \(rev [0-9a-f]+\))?"
    r"(?: \(prog-if .*\))?"
)


def parse(data: bytes) -> Facts:
    """Return the names of the network controllers, in bus order."""
    devices = [match for line in lines(data) if (match := _DEVICE.fullmatch(line))]
    require(devices, "lines of `lspci` such as `00:03.0 Ethernet controller: NAME`")
    names = (word(d[2]) for d in devices if re.match(r"Ethernet|Network|Infiniband", d[1]))
    return known(network_controllers=[name for name in names if name])
