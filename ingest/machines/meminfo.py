"""Facts from /proc/meminfo (proc_meminfo(5)), where kB means KiB."""

from __future__ import annotations

import re
from typing import Final

from dropline.ingest.machines.facts import Facts, known, require, text, whole

_FIELD: Final = re.compile(r"^(\w+):\s+([0-9]{1,18})(?: (kB))?\s*$", re.MULTILINE | re.ASCII)


def parse(data: bytes) -> Facts:
    """Return the memory usable by the kernel, in bytes, and the part reserved for huge pages."""
    fields = {
        name: whole(int(amount) * (1024 if unit else 1), 2**62) for name, amount, unit in _FIELD.findall(text(data))
    }
    require(fields.get("MemTotal"), "/proc/meminfo, with a line `MemTotal: N kB`")
    return known(
        memory_bytes=fields["MemTotal"],
        swap_bytes=fields.get("SwapTotal"),
        hugepages=fields.get("HugePages_Total"),
        hugepage_bytes=fields.get("Hugepagesize"),
    )
