"""Facts from `ip -j link` and `ip -j addr`, with and without -d (ip-link(8))."""

from __future__ import annotations

from dropline.ingest.machines.facts import Facts, document, entries, known, require, whole, word


def parse(data: bytes) -> Facts:
    """Return the network interfaces of one namespace by name, without their addresses."""
    found = document(data, "ip -j link")
    require(isinstance(found, list), "the JSON of `ip -j link`: a list of interfaces")
    interfaces = {}
    for link in entries(found):
        info = link.get("linkinfo")
        if name := word(link.get("ifname")):
            interfaces[name] = known(
                kind=word(info.get("info_kind")) if isinstance(info, dict) else None,
                mtu=whole(link.get("mtu")),
                state=word(link.get("operstate")),
                qdisc=word(link.get("qdisc")),
                queue_length=whole(link.get("txqlen")),
                tx_queues=whole(link.get("num_tx_queues")),
                rx_queues=whole(link.get("num_rx_queues")),
            )
    return known(interfaces=interfaces)
