"""What the readers of watched files make of real captures, and of texts made after the documentation of a tool.

The captures are of PowerDNS 4.7.3 (counters, carbon, API, /metrics), of Linux 6 (/proc/net) and of sysstat 12.6.1
(names of node and kernel made neutral). The layouts of Grafana, CloudWatch, the API of Prometheus, and of other
versions of sysstat are made here after their manuals and sources.
"""

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dropline.ingest.formats import Reject, recognise
from dropline.ingest.formats.text import instant
from dropline.ingest.telemetry import TELEMETRY_READERS, Sample, samples

CAPTURES = Path(__file__).parents[1] / "captures"
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
NOON_S = int(NOON.timestamp())


def capture(name):
    return (CAPTURES / "watched" / name).read_bytes()


def read(data, name=None):
    """Read a text by the reader that claims it, which must be the named one."""
    data = data.encode() if isinstance(data, str) else data
    watcher = recognise(data[:65536], TELEMETRY_READERS)
    assert watcher, data[:200]
    assert name in {None, watcher.NAME}
    return list(watcher.parse(data))


def found(data, name=None):
    """Read a text of which every part is of use."""
    parts = read(data, name)
    assert all(isinstance(part, Sample) for part in parts), parts
    return parts


def reject(data, name=None):
    (part,) = read(data, name)
    assert isinstance(part, Reject), part
    return part


def test_sections_of_sadf_stay_in_the_order_of_the_file():
    metrics = list(dict.fromkeys(part.metric.split(".")[1] for part in found(capture("sadf.json"))))
    assert metrics[-6:] == ["net-dev", "net-edev", "net-sock", "net-udp", "net-udp6", "softnet"]


@pytest.mark.parametrize(
    ("value", "at"),
    [
        (NOON_S, NOON),
        (f"{NOON_S}000", NOON),
        (NOON_S * 10**6, NOON),
        (NOON_S * 10**9, NOON),
        ("2026-11-20T13:00:00+01:00", NOON),
        ("2026-11-20 12:00:00", None),
        ("17952947", None),
        ("0001-01-01T00:00:00+14:00", None),
        (True, None),
        ("noon", None),
    ],
)
def test_instants(value, at):
    assert instant(value) == at


def test_an_endless_file_is_cut_off(monkeypatch):
    monkeypatch.setattr(samples, "MAX_SAMPLES", 3)
    parts = read("# HELP a b\nbad\n" + "a 1\n" * 10)
    assert [type(part) for part in parts] == [Reject, Sample, Sample, Sample, Reject]
    assert parts[-1].reason == "more than 3 values: the rest is left out"


def test_more_text_than_memory_can_hold_is_one_reject(monkeypatch):
    monkeypatch.setattr(samples, "MAX_TEXT_BYTES", 2 * 1024**2)
    assert reject(gzip.compress(b"# HELP a b\n" + b"a 1\n" * 10**6)).reason == "more than 2 MiB of text"
