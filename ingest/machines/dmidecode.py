"""Facts from `dmidecode` (dmidecode(8)): the firmware's description of the hardware, in blocks.

Without root, or in many virtual machines, it prints two lines and fails. That is normal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dropline.ingest.machines.facts import (
    Facts,
    fields,
    known,
    nominal_mhz,
    number,
    require,
    size_bytes,
    text,
    whole,
    word,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK: Final = re.compile(r"^Handle 0x[0-9A-Fa-f]+,.*\n(.+)\n((?:[ \t].*(?:\n|\Z))*)", re.MULTILINE)


def parse(data: bytes) -> Facts:
    """Return machine, processors and the sum of the memory modules; {} if there is no SMBIOS."""
    content = text(data)
    require(
        "dmidecode" in content or _BLOCK.search(content),
        "the output of `dmidecode`, which begins with `# dmidecode VERSION`",
    )
    system = next(_blocks(content, "System Information"), {})
    processors = [
        block for block in _blocks(content, "Processor Information") if "Unpopulated" not in block.get("Status", "")
    ]
    modules = [size for block in _blocks(content, "Memory Device") if (size := size_bytes(block.get("Size", "")))]
    first = processors[0] if processors else {}
    model = word(first.get("Version"))
    return known(
        machine=" ".join(filter(None, (word(system.get("Manufacturer")), word(system.get("Product Name"))))) or None,
        cpu_model=model,
        cpu_vendor=word(first.get("Manufacturer")),
        cpu_sockets=len(processors) or None,
        cpu_cores=_sum(processors, "Core Count"),
        cpu_threads=_sum(processors, "Thread Count"),
        cpu_mhz=nominal_mhz(model) or number(first.get("Current Speed", "").removesuffix(" MHz")),
        memory_bytes=sum(modules) or None,
        memory_modules=len(modules) or None,
    )


def _blocks(content: str, title: str) -> Iterator[dict[str, str]]:
    for match in _BLOCK.finditer(content):
        if match[1].strip() == title:
            yield fields(match[2])


def _sum(processors: list[dict[str, str]], key: str) -> int | None:
    counts = [whole(block.get(key)) for block in processors]
    return whole(sum(count or 0 for count in counts)) if counts and all(counts) else None
