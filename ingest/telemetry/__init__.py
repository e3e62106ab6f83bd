"""Telemetry beside trials: counters of servers and kernels, probes, and exports of monitoring systems.

Like those of `ingest.formats`, a reader is a pure function, and yields a `Reject` for each unusable part.
"""

from collections.abc import Iterator
from datetime import datetime
from importlib import import_module
from typing import NamedTuple, cast

from dropline.ingest.formats import Reader, Reject


class Sample(NamedTuple):
    """An observed value."""

    at: datetime | None  # time in UTC; None if the file has no time
    metric: str  # name, prefixed with its source: `pdns.udp-queries`, `udp.InErrors`, `sar.cpu-load.idle`
    value: float  # a finite number as given in the file: counters are not converted to rates
    unit: str | None  # of the value; None for a plain count, or if the source lacks it
    label: str | None = None  # distinguishes values of a metric: a CPU, an interface, a socket, a set of labels
    host: str | None = None  # the observed host, if the file names it


Found = Iterator[Sample | Reject]
TelemetryReader = Reader[Sample]

# The registry: the modules of this folder. At most one of them claims a file.
_MODULES = (
    *("carbon", "cloudwatch", "kea", "kea_leases", "pdns"),
    *("probe", "proc_net", "prometheus", "prometheus_csv", "sysstat"),
)
TELEMETRY_READERS: tuple[TelemetryReader, ...] = tuple(
    cast("TelemetryReader", import_module(f"{__name__}.{name}")) for name in _MODULES
)
