"""Reader of Kea's lease files: kea-leases4.csv and kea-leases6.csv, as the memfile backend writes them.

A row is appended whenever a lease changes; the last one of an address counts. The address is leased if the state is 0
and the lifetime is not. The samples are the number of leased addresses and, if any was leased, of prefixes; a truncated
file gives none, as leases may be missing.
"""

from collections.abc import Iterator
from typing import Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.text import in_head
from dropline.ingest.telemetry import Found, Sample
from dropline.ingest.telemetry.samples import accounted, rows

NAME = "kea_leases"

_HEADS: Final = (
    "address,hwaddr,client_id,valid_lifetime,expire,subnet_id",
    "address,duid,valid_lifetime,expire,subnet_id",
)
_EXPECTED: Final = "expected a lease file of Kea, unchanged, with its head `address,...`"
_PREFIX: Final = "2"  # lease_type of a delegated prefix


def _read(text: bytes) -> Found:
    held: dict[tuple[bool, str], bool] = {}
    head: list[str] = []
    for part in rows(text.decode("utf-8", "replace")):
        if isinstance(part, Reject):
            yield part
            return
        line, cells = part
        if cells[0] == "address" and ",".join(cells).startswith(_HEADS):  # repeated in appended files
            yield from _counts(held) if head else ()
            head, held = cells, {}
        elif len(cells) != len(head):
            yield Reject(line, f"{len(cells)} cells below a head of {len(head)}", _EXPECTED)
        else:
            lease = dict(zip(head, cells, strict=True))
            key = lease.get("lease_type") == _PREFIX, lease["address"]
            held[key] = lease["valid_lifetime"] != "0" and lease.get("state", "0") == "0"
    if not text.endswith((b"\n", b"\r")):
        reason = "the last line is cut off: how many leases there were is not known"
        yield Reject(text.count(b"\n") + 1, reason, "copy the whole file again")
    elif head:
        yield from _counts(held)


def _counts(held: dict[tuple[bool, str], bool]) -> Iterator[Sample]:
    prefixes = [now for (is_prefix, _), now in held.items() if is_prefix]
    addresses = sum(held.values()) - sum(prefixes)
    yield Sample(None, "kea.leased-addresses", float(addresses), "leases")
    if prefixes:
        yield Sample(None, "kea.leased-prefixes", float(sum(prefixes)), "leases")


sniff = in_head(lambda text: text.startswith(_HEADS))
parse = accounted(_read, _EXPECTED)
