"""Facts from `lshw -json` (lshw(1)): a tree of nodes with class, product, vendor and size."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from dropline.ingest.machines.facts import (
    FactError,
    Facts,
    disk_text,
    document,
    entries,
    known,
    nominal_mhz,
    require,
    size_bytes,
    text,
    whole,
    word,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMAND: Final = "lshw -json"


def parse(data: bytes) -> Facts:
    """Return processors, installed memory, network interfaces by name, and disks.

    Older versions print one object, newer ones a list; some print objects separated by commas without brackets. Clocks
    are in Hz, network speeds in bit/s. Only network interfaces on a bus count: not veth, bridges and the like.
    """
    nodes = list(_walk(_roots(data)))
    require(any("class" in node for node, _ in nodes), f"the JSON of `{_COMMAND}`: objects with id and class")
    processors = [node for node, _ in nodes if node.get("class") == "processor" and not node.get("disabled")]
    memory = [
        node
        for node, _ in nodes
        if node.get("class") == "memory" and re.fullmatch("memory(:[0-9]+)?", str(node.get("id")))
    ]
    model = next((m for n in processors if (m := word(n.get("product")))), None)
    clocks = (n.get(key) for n in processors for key in ("capacity", "size"))
    hertz = next(filter(None, map(size_bytes, clocks)), None)
    system = next((node for node, _ in nodes if node.get("class") == "system"), {})
    return known(
        name=word(system.get("id")),
        machine=_joined(system.get("vendor"), system.get("product")),
        cpu_model=model,
        cpu_vendor=next((v for n in processors if (v := word(n.get("vendor")))), None),
        cpu_sockets=len(processors) or None,
        cpu_cores=_sum(processors, "cores"),
        cpu_threads=_sum(processors, "threads"),
        cpu_mhz=nominal_mhz(model) or (hertz / 1e6 if hertz else None),
        memory_bytes=sum(size_bytes(node.get("size")) or 0 for node in memory) or None,
        nics=dict(_nics(nodes)),
        disks=sorted(_disks(nodes)),
    )


def _roots(data: bytes) -> list[Facts]:
    try:
        found = document(data, _COMMAND)
    except FactError:
        try:
            found = json.loads("[" + text(data).strip().strip(",") + "]")
        except (ValueError, RecursionError):
            found = None
        if found is None:
            raise
    return entries(found if isinstance(found, list) else [found])


def _walk(roots: list[Facts]) -> Iterator[tuple[Facts, Facts]]:
    """Yield every node with its parent."""
    waiting = [(root, Facts()) for root in reversed(roots)]
    while waiting:
        node, parent = waiting.pop()
        yield node, parent
        waiting += [(child, node) for child in reversed(entries(node.get("children")))]


def _sum(processors: list[Facts], key: str) -> int | None:
    counts = [whole(_configuration(node).get(key)) for node in processors]
    return whole(sum(count or 0 for count in counts)) if counts and all(counts) else None


def _nics(nodes: list[tuple[Facts, Facts]]) -> Iterator[tuple[str, Facts]]:
    for node, parent in nodes:
        name = _logical_name(node)
        if node.get("class") != "network" or name is None or "businfo" not in node:
            continue
        # A virtio interface is a child of the PCI device that has the names.
        device = node if node.get("product") else parent
        bits = size_bytes(node.get("size"))
        yield (
            name,
            known(
                model=_joined(device.get("vendor"), device.get("product")),
                driver=word(_configuration(node).get("driver")),
                speed_mbps=bits / 1e6 if bits else None,
                link={"yes": True, "no": False}.get(str(_configuration(node).get("link"))),
                bus=word(node.get("businfo")),
            ),
        )


def _disks(nodes: list[tuple[Facts, Facts]]) -> Iterator[str]:
    for node, _ in nodes:
        name, size = _logical_name(node), size_bytes(node.get("size"))
        if node.get("class") == "disk" and name and size:
            yield disk_text(name.removeprefix("/dev/"), size, word(node.get("product")))


def _joined(maker: Any, product: Any) -> str | None:
    return " ".join(filter(None, (word(maker), word(product)))) or None


def _logical_name(node: Facts) -> str | None:
    name = node.get("logicalname")
    return word(name[0] if isinstance(name, list) and name else name)


def _configuration(node: Facts) -> dict[str, Any]:
    found = node.get("configuration")
    return found if isinstance(found, dict) else {}
