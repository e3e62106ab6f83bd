"""Facts from `ethtool IFACE`, `ethtool -i IFACE` and `ethtool -k IFACE` (ethtool(8))."""

from __future__ import annotations

import re
from typing import Final

from dropline.ingest.machines.facts import Facts, fields, known, number, require, text, word

_SPEED: Final = re.compile(r"([0-9]{1,9})Mb/s")


def parse(data: bytes) -> Facts:
    """Return speed in Mbit/s and link, or the driver, or the enabled offloads.

    `ethtool -i` does not print the interface: the file name must contain it.
    """
    content = text(data)
    flat = fields(content)
    if content.lstrip().startswith("Settings for"):
        speed = _SPEED.fullmatch(flat.get("Speed", ""))
        return known(
            speed_mbps=number(speed[1]) if speed else None,
            duplex=word(re.sub(r"\(.*", "", flat.get("Duplex", ""))),
            port=word(flat.get("Port")),
            link={"yes": True, "no": False}.get(flat.get("Link detected", "")),
        )
    if content.lstrip().startswith("Features for"):
        # Indented lines are details of the line above them.
        top = fields("\n".join(line for line in content.split("\n") if not line[:1].isspace()))
        return known(offloads=sorted(name for name in top if top[name].startswith("on")))
    require("driver" in flat, "`Settings for ...`, `Features for ...` or `driver: ...` of ethtool")
    return known(
        driver=word(flat["driver"]),
        driver_version=word(flat.get("version")),
        firmware=word(flat.get("firmware-version")),
        bus=word(flat.get("bus-info")),
    )
