"""Telemetry beside trials: the formats that are read, how each is recognised, and what a reader returns.

They are counters of servers and kernels, probes, and exports of monitoring. A reader is pure, as those of
`ingest.formats` are: it gets the bytes of one file, yields what it found in the order of the file, and never raises
for bad input; what it cannot use it yields as a `Reject`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast

from dropline.ingest.formats import begins_like_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from dropline.ingest.formats import Reject


class Sample(NamedTuple):
    """One value that was watched.

    Attributes:
        at: when, in UTC; None when the file carries no time.
        metric: what, named by its source first: `pdns.udp-queries`, `udp.InErrors`, `sar.cpu-load.idle`.
        value: a finite number, as the file gives it: counters are not made into rates.
        unit: of the value; None for a plain count, and where the source does not tell.
        label: which of several: a CPU, an interface, a socket, a set of labels.
        host: where it was watched, when the file names it.

    """

    at: datetime | None
    metric: str
    value: float
    unit: str | None
    label: str | None = None
    host: str | None = None


class TelemetryReader(Protocol):
    """What a module of this folder offers; one whose files begin like JSON says so by `IN_JSON = True`."""

    NAME: str

    def sniff(self, head: bytes) -> bool:
        """Return whether a file is of this format; `head` is its first 64 KiB, or all of it."""

    def parse(self, data: bytes) -> Iterator[Sample | Reject]:
        """Yield every value and every unusable part of `data`, in order.

        A file without any value is one reject; further limits are those of `samples.account`.
        """


# The registry: a module of this folder a line. Each file is claimed by one of them at most.
_MODULES = (
    "carbon",
    "cloudwatch",
    "kea",
    "kea_leases",
    "pdns",
    "probe",
    "proc_net",
    "prometheus",
    "prometheus_csv",
    "sysstat",
)
TELEMETRY_READERS: tuple[TelemetryReader, ...] = tuple(
    cast("TelemetryReader", import_module(f"{__name__}.{name}")) for name in _MODULES
)
_OF_JSON: Final = tuple(watcher for watcher in TELEMETRY_READERS if getattr(watcher, "IN_JSON", False))


def recognise(head: bytes) -> TelemetryReader | None:
    """Return the reader of a file; `head` is its first 64 KiB, or all of it."""
    asked = _OF_JSON if begins_like_json(head) else TELEMETRY_READERS
    return next((reader for reader in asked if reader.sniff(head)), None)
